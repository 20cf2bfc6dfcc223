// TLS against a server whose certificate nobody vouches for.
#include <catch2/catch.hpp>

#include "core/net/http_client.h"
#include "tests/fakes/loopback_server.h"
#include "tests/fakes/tls_identity.h"

using namespace navtalk;
using tests::Connection;
using tests::LoopbackServer;
using tests::ReceivedRequest;

TEST_CASE("a certificate that the system does not trust ends an HTTPS exchange before it is sent") {
  tests::TlsIdentity identity;
  const LoopbackServer server([](Connection&, const ReceivedRequest&) {},
                              [&](Connection& client) {
                                const CPtr<SSL, SSL_free> tls(SSL_new(identity.context()));
                                SSL_set_fd(tls.get(), client.fd());
                                SSL_accept(tls.get());  // the client hangs up
                                return false;
                              });
  HttpClient client;
  const HttpResult result =
      client.send({.method = "POST", .url = "https" + server.url("/").substr(4), .body = "x"});
  REQUIRE(std::holds_alternative<HttpFault>(result));
  const auto& fault = std::get<HttpFault>(result);
  CHECK(fault.kind == HttpFault::Kind::tls);
  CHECK_FALSE(fault.sent);
  CHECK_THAT(fault.message, Catch::Contains("certificate"));
}
