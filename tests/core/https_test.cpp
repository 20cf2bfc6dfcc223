// TLS against a server whose certificate nobody vouches for.
#include <openssl/ssl.h>
#include <openssl/x509.h>

#include <catch2/catch.hpp>

#include "core/cptr.h"
#include "core/http_client.h"
#include "tests/fakes/loopback_server.h"

using namespace navtalk;
using tests::Connection;
using tests::LoopbackServer;
using tests::ReceivedRequest;

namespace {

// A server context with a fresh key and a certificate for 127.0.0.1 that it signed itself.
CPtr<SSL_CTX, SSL_CTX_free> self_signed() {
  CPtr<SSL_CTX, SSL_CTX_free> context(SSL_CTX_new(TLS_server_method()));
  const CPtr<EVP_PKEY, EVP_PKEY_free> key(EVP_EC_gen("P-256"));
  const CPtr<X509, X509_free> certificate(X509_new());
  X509* const x = certificate.get();
  ASN1_INTEGER_set(X509_get_serialNumber(x), 1);
  X509_gmtime_adj(X509_getm_notBefore(x), 0);
  X509_gmtime_adj(X509_getm_notAfter(x), 3600);
  X509_set_pubkey(x, key.get());
  X509_NAME* const name = X509_get_subject_name(x);
  const auto* const text = reinterpret_cast<const unsigned char*>("127.0.0.1");
  X509_NAME_add_entry_by_txt(name, "CN", MBSTRING_ASC, text, -1, -1, 0);
  X509_set_issuer_name(x, name);
  REQUIRE(X509_sign(x, key.get(), EVP_sha256()) > 0);
  REQUIRE(SSL_CTX_use_certificate(context.get(), x) == 1);
  REQUIRE(SSL_CTX_use_PrivateKey(context.get(), key.get()) == 1);
  return context;
}

}  // namespace

TEST_CASE("a certificate that the system does not trust ends an HTTPS exchange before it is sent") {
  const auto context = self_signed();
  const LoopbackServer server([](Connection&, const ReceivedRequest&) {},
                              [&](Connection& client) {
                                const CPtr<SSL, SSL_free> tls(SSL_new(context.get()));
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
