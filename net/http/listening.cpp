#include "net/http/listening.hpp"

namespace troupe::net::http {

namespace ssl = asio::ssl;
using tcp = asio::ip::tcp;
using boost::system::error_code;

result<std::optional<ssl::context>> make_tls(const server_options& o) {
  std::optional<ssl::context> out;
  if (o.tls_certificate.empty()) return out;
  out.emplace(ssl::context::tls_server);
  out->set_options(ssl::context::default_workarounds | ssl::context::no_sslv2 | ssl::context::no_sslv3 |
                   ssl::context::no_tlsv1 | ssl::context::no_tlsv1_1);
  error_code ec;
  out->use_certificate_chain_file(o.tls_certificate, ec);
  if (ec)
    return fail(errc::unavailable,
                "the TLS certificate " + o.tls_certificate + " cannot be used: " + ec.message());
  out->use_private_key_file(o.tls_key.empty() ? o.tls_certificate : o.tls_key, ssl::context::pem, ec);
  if (ec)
    return fail(errc::unavailable, "the TLS key " + (o.tls_key.empty() ? o.tls_certificate : o.tls_key) +
                                       " cannot be used: " + ec.message());
  return out;
}

result<asio::ip::tcp::acceptor> open_port(asio::io_context& io, const server_options& o) {
  auto where = o.host + ":" + std::to_string(o.port);
  error_code ec;
  tcp::resolver resolver(io);
  auto endpoints = resolver.resolve(o.host, std::to_string(o.port),
                                    tcp::resolver::passive | tcp::resolver::numeric_service, ec);
  if (ec || endpoints.empty())
    return fail(errc::unavailable, "cannot listen on " + where + ": the host is unknown");
  auto endpoint = endpoints.begin()->endpoint();
  tcp::acceptor a(io);
  a.open(endpoint.protocol(), ec);
  a.set_option(tcp::acceptor::reuse_address(true), ec);
  a.bind(endpoint, ec);
  if (!ec) a.listen(asio::socket_base::max_listen_connections, ec);
  if (ec == asio::error::address_in_use)
    return fail(errc::unavailable,
                "port " + std::to_string(o.port) +
                    " is in use: stop the other server, or choose another port with --port");
  if (ec == asio::error::access_denied)
    return fail(errc::unavailable,
                "no permission to listen on " + where + ": choose a port above 1023 with --port");
  if (ec) return fail(errc::unavailable, "cannot listen on " + where + ": " + ec.message());
  return a;
}

} // namespace troupe::net::http
