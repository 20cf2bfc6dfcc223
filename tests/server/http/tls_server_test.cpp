// The HTTP server with TLS: the same routes and sockets, behind a handshake with a deadline.
#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <catch2/catch.hpp>
#include <cstdlib>
#include <fstream>
#include <future>

#include "server/http/http_server.h"
#include "server/http/socket/tls_identity.h"
#include "tests/fakes/tls_identity.h"
#include "tests/server/http/client.h"
#include "tests/temporary_directory.h"

using namespace navtalk;
using namespace navtalk::server;
using namespace std::chrono_literals;
using tests::RawClient;
using tests::SocketClient;
namespace asio = boost::asio;

namespace {

// A certificate and its key as files, which clients of this process trust.
class Files {
 public:
  explicit Files(const tests::TlsIdentity& identity = {}) {
    std::ofstream(folder_ / "cert.pem") << identity.pem();
    std::ofstream(folder_ / "key.pem") << identity.key_pem();
    std::filesystem::permissions(folder_ / "key.pem", std::filesystem::perms::owner_read);
  }
  TlsFiles both() const { return {folder_ / "cert.pem", folder_ / "key.pem"}; }
  void trust() const { ::setenv("SSL_CERT_FILE", both().certificate.c_str(), 1); }
  std::filesystem::path write(const char* name, const std::string& text) const {
    std::ofstream(folder_ / name) << text;
    return folder_ / name;
  }
  ~Files() { ::unsetenv("SSL_CERT_FILE"); }

 private:
  tests::TemporaryDirectory folder_;
};

class Secured {
 public:
  explicit Secured(const TlsFiles& files, const HttpLimits& limits = {})
      : server_(io_, {}, limits, routes(), TlsIdentity::load(files)) {
    thread_ = std::jthread([this] { io_.run(); });
  }
  ~Secured() { io_.stop(); }

  std::string url() const { return server_.url(); }
  // Where a client that knows no TLS connects.
  std::string clear_url() const { return "http" + url().substr(5); }
  void use(std::shared_ptr<const TlsIdentity> identity) {
    std::promise<void> done;
    asio::post(io_, [&] {
      server_.use(identity);
      done.set_value();
    });
    done.get_future().wait();
  }

 private:
  static Router routes() {
    Router router;
    router.on("POST", "/echo", [](const Request& request) -> asio::awaitable<Response> {
      co_return Response{.body = request.body};
    });
    router.on_socket(
        "/socket",
        [](const Request&, Upgrade& upgrade) -> asio::awaitable<std::optional<Response>> {
          const SocketLimits limits{};
          const auto socket = co_await upgrade.accept(limits);
          while (socket) {
            std::optional<Frame> frame = co_await socket->receive();
            if (!frame || !co_await socket->send(std::move(*frame))) break;
          }
          co_return std::nullopt;
        });
    return router;
  }

  asio::io_context io_{1};
  HttpServer server_;
  std::jthread thread_;
};

// A client of OpenSSL's, which trusts everybody.
class TlsClient {
 public:
  explicit TlsClient(const std::string& url, int newest = TLS1_3_VERSION,
                     const char* ciphers = nullptr)
      : context_(SSL_CTX_new(TLS_client_method())) {
    // OpenSSL's default level would refuse the old ones by itself.
    SSL_CTX_set_security_level(context_.get(), 0);
    SSL_CTX_set_max_proto_version(context_.get(), newest);
    if (ciphers != nullptr) SSL_CTX_set_cipher_list(context_.get(), ciphers);
    BIO* const bio = BIO_new_connect(url.substr(url.find("//") + 2).c_str());
    REQUIRE(BIO_do_connect(bio) == 1);
    tls_.reset(SSL_new(context_.get()));
    SSL_set_bio(tls_.get(), bio, bio);
    connected_ = SSL_connect(tls_.get()) == 1;
  }

  // "" without a handshake.
  std::string version() const { return connected_ ? SSL_get_version(tls_.get()) : ""; }
  // Sends all of it, and receives until the server ends the connection.
  std::string exchange(const std::string& bytes) {
    REQUIRE(SSL_write(tls_.get(), bytes.data(), static_cast<int>(bytes.size())) ==
            static_cast<int>(bytes.size()));
    std::string answer;
    char part[4096];
    for (int size = 0; (size = SSL_read(tls_.get(), part, sizeof part)) > 0;)
      answer.append(part, static_cast<std::size_t>(size));
    properly_ended_ = (SSL_get_shutdown(tls_.get()) & SSL_RECEIVED_SHUTDOWN) != 0;
    return answer;
  }
  // The server said that nothing more comes, so that nobody can have cut the answer.
  bool properly_ended() const { return properly_ended_; }

 private:
  CPtr<SSL_CTX, SSL_CTX_free> context_;
  CPtr<SSL, SSL_free> tls_;
  bool connected_ = false, properly_ended_ = false;
};

std::string echo_request(const std::string& body) {
  return "POST /echo HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nContent-Length: " +
         std::to_string(body.size()) + "\r\n\r\n" + body;
}

// What /echo answers.
std::string echoed(const std::string& url, const std::string& body) {
  const std::string answer = TlsClient(url).exchange(echo_request(body));
  return answer.substr(std::min(answer.size(), answer.find("\r\n\r\n") + 4));
}

}  // namespace

TEST_CASE("requests and WebSockets work over TLS as they do without") {
  const Files files;
  files.trust();
  const Secured server(files.both());
  CHECK_THAT(server.url(), Catch::StartsWith("https://127.0.0.1:"));
  const std::string long_body(300'000, 'x');
  CHECK(echoed(server.url(), long_body) == long_body);
  SocketClient client(server.url(), "/socket");
  REQUIRE(client.connected());
  const std::string long_frame(500'000, 'y');
  client.send_binary(long_frame);
  const auto frame = client.receive();
  REQUIRE(frame);
  CHECK(frame->bytes == long_frame);
}

TEST_CASE("TLS is 1.2 or 1.3, with forward secrecy and authenticated encryption") {
  const Files files;
  const Secured server(files.both());
  CHECK(TlsClient(server.url()).version() == "TLSv1.3");
  CHECK(TlsClient(server.url(), TLS1_2_VERSION).version() == "TLSv1.2");
  CHECK(TlsClient(server.url(), TLS1_1_VERSION).version().empty());
  CHECK(TlsClient(server.url(), TLS1_2_VERSION, "ECDHE-ECDSA-AES128-SHA").version().empty());
}

TEST_CASE("the end of a connection is told within TLS") {
  const Files files;
  const Secured server(files.both());
  TlsClient client(server.url());
  CHECK_THAT(client.exchange(echo_request("all of it")), Catch::EndsWith("all of it"));
  CHECK(client.properly_ended());
}

TEST_CASE("a client without TLS is disconnected and gets no answer of HTTP") {
  const Files files;
  files.trust();
  const Secured server(files.both());
  RawClient client(server.clear_url());
  client.send("POST /echo HTTP/1.1\r\nHost: localhost\r\nContent-Length: 0\r\n\r\n");
  CHECK_THAT(client.receive_all(), !Catch::Contains("HTTP/1.1"));
  CHECK(echoed(server.url(), "well") == "well");
}

TEST_CASE("a handshake that does not come ends its connection") {
  const Files files;
  const Secured server(files.both(), {.handshake = 50ms});
  RawClient silent(server.clear_url());
  CHECK(silent.receive_all().empty());
}

TEST_CASE("connections that wait in their handshake keep nobody out") {
  const Files files;
  files.trust();
  const Secured server(files.both(), {.connections = 2, .reserve = 1});
  const RawClient one(server.clear_url()), other(server.clear_url()), third(server.clear_url());
  CHECK(echoed(server.url(), "well") == "well");
}

TEST_CASE("another certificate serves the connections that come from then on") {
  const Files before, after;
  Secured server(before.both());
  before.trust();
  SocketClient old(server.url(), "/socket");
  REQUIRE(old.connected());
  server.use(TlsIdentity::load(after.both()));
  CHECK_FALSE(SocketClient(server.url(), "/socket").connected());  // it trusts the old one
  after.trust();
  CHECK(SocketClient(server.url(), "/socket").connected());
  old.send("still here");
  CHECK(old.receive()->bytes == "still here");
}

TEST_CASE("a certificate or a key that cannot be used is named") {
  const Files files, others;
  const auto fails_with = [](const TlsFiles& pair, const std::string& word) {
    CHECK_THROWS_WITH(TlsIdentity::load(pair), Catch::Contains(word));
  };
  const TlsFiles both = files.both();
  fails_with({both.certificate, {}}, "only one is set");
  fails_with({both.certificate, "/nowhere.pem"}, "/nowhere.pem");
  fails_with({"/nowhere.pem", both.key}, "/nowhere.pem");
  fails_with({both.certificate, others.both().key}, "key");
  fails_with({files.write("text.pem", "no certificate"), both.key}, "text.pem");
  fails_with({both.certificate, files.write("empty.pem", "")}, "empty.pem");
  CHECK(TlsIdentity::load(both)->expires_at() > std::chrono::system_clock::now());
}

TEST_CASE("an address of this machine has no bound of its own") {
  const Files files;
  files.trust();
  const Secured server(files.both(), {.per_address = 1});
  const SocketClient one(server.url(), "/socket"), other(server.url(), "/socket");
  CHECK(one.connected());
  CHECK(other.connected());
}
