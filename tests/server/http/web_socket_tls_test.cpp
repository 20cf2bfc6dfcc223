// A WebSocket over TLS, as a worker behind a proxy of the cloud is reached.
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/use_future.hpp>
#include <catch2/catch.hpp>
#include <cstdlib>
#include <fstream>

#include "server/http/socket/web_socket.h"
#include "tests/fakes/fake_worker.h"
#include "tests/fakes/loopback_server.h"
#include "tests/fakes/tls_identity.h"
#include "tests/temporary_directory.h"

using namespace navtalk;
using server::WebSocket;
using tests::Connection;
using tests::LoopbackServer;
using tests::ReceivedRequest;

namespace {

namespace asio = boost::asio;

// Whom OpenSSL trusts, for one test.
class Trust {
 public:
  explicit Trust(const std::string& pem) {
    std::ofstream(folder_ / "trusted.pem") << pem;
    ::setenv("SSL_CERT_FILE", (folder_ / "trusted.pem").c_str(), 1);
  }
  ~Trust() { ::unsetenv("SSL_CERT_FILE"); }

 private:
  tests::TemporaryDirectory folder_;
};

// Upgrades, then sends the first short text frame back.
void echo_once(SSL* tls) {
  std::string request;
  char byte = 0;
  while (!request.ends_with("\r\n\r\n") && SSL_read(tls, &byte, 1) == 1) request += byte;
  const std::string mark = "Sec-WebSocket-Key: ";
  const std::size_t at = request.find(mark);
  if (at == std::string::npos) return;
  const std::string key = request.substr(at + mark.size(), 24);
  const std::string answer =
      "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
      "Sec-WebSocket-Accept: " +
      tests::websocket_accept_for(key) + "\r\n\r\n";
  SSL_write(tls, answer.data(), static_cast<int>(answer.size()));
  unsigned char head[6] = {};  // two bytes and the mask
  for (unsigned char& one : head) SSL_read(tls, &one, 1);
  std::string frame = {'\x81', static_cast<char>(head[1] & 0x7f)};
  for (int i = 0; i < (head[1] & 0x7f); ++i) {
    SSL_read(tls, &byte, 1);
    frame += static_cast<char>(byte ^ static_cast<char>(head[2 + i % 4]));
  }
  SSL_write(tls, frame.data(), static_cast<int>(frame.size()));
  SSL_read(tls, &byte, 1);  // until the client leaves
}

struct Outcome {
  bool connected = false;
  std::string echoed{}, declined{};
};

asio::awaitable<Outcome> ask(WebSocket::Address address) {
  WebSocket::Declined declined;
  const auto socket = co_await WebSocket::connect(address, {}, declined);
  if (!socket) co_return Outcome{.declined = declined.message};
  server::Frame hello;
  hello.bytes = "hello";
  co_await socket->send(std::move(hello));
  const auto answer = co_await socket->receive();
  co_return Outcome{.connected = true, .echoed = answer ? answer->bytes : ""};
}

Outcome asked(const LoopbackServer& server, const std::string& host) {
  WebSocket::Address address;
  address.host = host;
  address.port = std::to_string(server.port());
  address.target = "/v1/session";
  address.tls = true;
  asio::io_context io;
  auto outcome = asio::co_spawn(io, ask(address), asio::use_future);
  io.run();
  return outcome.get();
}

struct TlsServer {
  tests::TlsIdentity identity{};
  LoopbackServer server{[](Connection&, const ReceivedRequest&) {},
                        [this](Connection& client) {
                          const CPtr<SSL, SSL_free> tls(SSL_new(identity.context()));
                          SSL_set_fd(tls.get(), client.fd());
                          if (SSL_accept(tls.get()) == 1) echo_once(tls.get());
                          return false;
                        }};
};

}  // namespace

TEST_CASE("a WebSocket speaks TLS with a server that the system trusts") {
  TlsServer place;
  const Trust trust(place.identity.pem());
  const Outcome outcome = asked(place.server, "127.0.0.1");
  INFO(outcome.declined);
  CHECK(outcome.connected);
  CHECK(outcome.echoed == "hello");
}

TEST_CASE("a WebSocket is not opened to a server that the system does not trust") {
  TlsServer place;
  const Outcome outcome = asked(place.server, "127.0.0.1");
  CHECK_FALSE(outcome.connected);
  CHECK_THAT(outcome.declined, Catch::Contains("TLS"));
}

TEST_CASE("a WebSocket is not opened with a certificate of another host") {
  TlsServer place;
  const Trust trust(place.identity.pem());
  CHECK_FALSE(asked(place.server, "localhost").connected);
}
