// What a server needs before its first connection: its port and its certificate, or one line that says why not.
#pragma once

#include "net/http/server.hpp"

#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/ssl.hpp>

namespace troupe::net::http {

result<asio::ip::tcp::acceptor> open_port(asio::io_context& io, const server_options& o);
// Nothing where no certificate is given.
result<std::optional<asio::ssl::context>> make_tls(const server_options& o);

} // namespace troupe::net::http
