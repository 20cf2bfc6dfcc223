#include "server/http/socket/tls_identity.h"

#include <openssl/err.h>
#include <openssl/ssl.h>
#include <sys/stat.h>

#include <boost/asio/ssl/context.hpp>
#include <ctime>

#include "core/base/error.h"
#include "core/log/log.h"
#include "core/text/printable.h"
#include "core/text/rfc3339.h"

namespace navtalk::server {
namespace {

namespace ssl = boost::asio::ssl;

// Of TLS 1.2; all suites of 1.3 are as good.
constexpr const char* k_ciphers = "ECDHE+AESGCM:ECDHE+CHACHA20";

[[noreturn]] void fail_tls(const char* what, const std::filesystem::path& file) {
  const unsigned long code = ERR_get_error();
  const char* const reason = code == 0 ? nullptr : ERR_reason_error_string(code);
  ERR_clear_error();
  throw Error(Code::invalid, std::string("cannot use the ") + what + " '" +
                                 printable(file.native()) +
                                 "': " + (reason == nullptr ? "it is not usable" : reason));
}

// Clients offer what they speak; here that is HTTP/1.1 alone.
int select_protocol(SSL*, const unsigned char** chosen, unsigned char* size,
                    const unsigned char* offered, unsigned offered_size, void*) {
  static constexpr unsigned char k_known[] = "\x08http/1.1";
  unsigned char* found = nullptr;
  if (SSL_select_next_proto(&found, size, k_known, sizeof k_known - 1, offered, offered_size) !=
      OPENSSL_NPN_NEGOTIATED) {
    return SSL_TLSEXT_ERR_NOACK;
  }
  *chosen = found;
  return SSL_TLSEXT_ERR_OK;
}

void bound_protocols(SSL_CTX* context) {
  SSL_CTX_set_min_proto_version(context, TLS1_2_VERSION);
  SSL_CTX_set_cipher_list(context, k_ciphers);
  SSL_CTX_set_options(context, SSL_OP_NO_COMPRESSION | SSL_OP_NO_RENEGOTIATION);
  SSL_CTX_set_mode(context, SSL_MODE_RELEASE_BUFFERS);  // an idle connection needs none
  SSL_CTX_set_alpn_select_cb(context, select_protocol, nullptr);
  // Nobody is there to type a password.
  SSL_CTX_set_default_passwd_cb(context, [](char*, int, int, void*) { return 0; });
}

void warn_if_shared(const std::filesystem::path& key) {
  struct stat status {};
  if (stat(key.c_str(), &status) == 0 && (status.st_mode & 07) != 0) {
    log::warn("other users can read the TLS key; run chmod o-rwx on its file",
              {{"file", key.native()}});
  }
}

std::chrono::system_clock::time_point end_of(const X509* certificate) {
  std::tm utc{};
  if (ASN1_TIME_to_tm(X509_get0_notAfter(certificate), &utc) != 1) return {};
  return std::chrono::system_clock::from_time_t(timegm(&utc));
}

}  // namespace

TlsIdentity::TlsIdentity(std::unique_ptr<ssl::context> context)
    : context_(std::move(context)),
      expires_at_(end_of(SSL_CTX_get0_certificate(context_->native_handle()))) {}

TlsIdentity::~TlsIdentity() = default;

std::shared_ptr<const TlsIdentity> TlsIdentity::load(const TlsFiles& files) {
  if (files.certificate.empty() || files.key.empty()) {
    throw Error(
        Code::invalid,
        "TLS needs server.tls_certificate_file and server.tls_key_file, and only one is set");
  }
  auto context = std::make_unique<ssl::context>(ssl::context::tls_server);
  SSL_CTX* const raw = context->native_handle();
  bound_protocols(raw);
  ERR_clear_error();
  if (SSL_CTX_use_certificate_chain_file(raw, files.certificate.c_str()) != 1)
    fail_tls("TLS certificate", files.certificate);
  if (SSL_CTX_use_PrivateKey_file(raw, files.key.c_str(), SSL_FILETYPE_PEM) != 1 ||
      SSL_CTX_check_private_key(raw) != 1) {
    fail_tls("TLS key", files.key);
  }
  warn_if_shared(files.key);
  const std::shared_ptr<const TlsIdentity> identity(new TlsIdentity(std::move(context)));
  if (identity->expires_at() <= std::chrono::system_clock::now()) {
    log::warn("the TLS certificate has expired",
              {{"file", files.certificate.native()}, {"expired", rfc3339(identity->expires_at())}});
  }
  return identity;
}

}  // namespace navtalk::server
