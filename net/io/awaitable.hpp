// Coroutines of the I/O thread.
#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/as_tuple.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/use_awaitable.hpp>

namespace troupe::net {

namespace asio = boost::asio;

template <class T> using awaitable = asio::awaitable<T>;

} // namespace troupe::net
