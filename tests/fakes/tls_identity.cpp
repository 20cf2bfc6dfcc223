#include "tests/fakes/tls_identity.h"

#include <openssl/pem.h>
#include <openssl/x509v3.h>

#include <csignal>
#include <stdexcept>

namespace navtalk::tests {
namespace {

void check(bool done, const char* what) {
  if (!done) throw std::runtime_error(std::string("no test certificate: ") + what);
}

void fill(X509* certificate, EVP_PKEY* key) {
  X509_set_version(certificate, X509_VERSION_3);
  ASN1_INTEGER_set(X509_get_serialNumber(certificate), 1);
  X509_gmtime_adj(X509_getm_notBefore(certificate), -60);
  X509_gmtime_adj(X509_getm_notAfter(certificate), 3600);
  X509_set_pubkey(certificate, key);
  X509_NAME* const name = X509_get_subject_name(certificate);
  const auto* const text = reinterpret_cast<const unsigned char*>("navtalk test");
  X509_NAME_add_entry_by_txt(name, "CN", MBSTRING_ASC, text, -1, -1, 0);
  X509_set_issuer_name(certificate, name);
  const CPtr<X509_EXTENSION, X509_EXTENSION_free> place(
      X509V3_EXT_conf_nid(nullptr, nullptr, NID_subject_alt_name, "IP:127.0.0.1"));
  check(X509_add_ext(certificate, place.get(), -1) == 1, "its place");
}

std::string text_of(X509* certificate) {
  const CPtr<BIO, BIO_free_all> memory(BIO_new(BIO_s_mem()));
  check(PEM_write_bio_X509(memory.get(), certificate) == 1, "its text");
  std::string text(BIO_ctrl_pending(memory.get()), '\0');
  BIO_read(memory.get(), text.data(), static_cast<int>(text.size()));
  return text;
}

std::string text_of(EVP_PKEY* key) {
  const CPtr<BIO, BIO_free_all> memory(BIO_new(BIO_s_mem()));
  check(PEM_write_bio_PrivateKey(memory.get(), key, nullptr, nullptr, 0, nullptr, nullptr) == 1,
        "its key's text");
  std::string text(BIO_ctrl_pending(memory.get()), '\0');
  BIO_read(memory.get(), text.data(), static_cast<int>(text.size()));
  return text;
}

}  // namespace

TlsIdentity::TlsIdentity() : context_(SSL_CTX_new(TLS_server_method())) {
  // OpenSSL writes to a socket that the client has left as any program would: with a signal.
  std::signal(SIGPIPE, SIG_IGN);
  const CPtr<EVP_PKEY, EVP_PKEY_free> key(EVP_EC_gen("P-256"));
  const CPtr<X509, X509_free> certificate(X509_new());
  fill(certificate.get(), key.get());
  check(X509_sign(certificate.get(), key.get(), EVP_sha256()) > 0, "its signature");
  check(SSL_CTX_use_certificate(context_.get(), certificate.get()) == 1, "its use");
  check(SSL_CTX_use_PrivateKey(context_.get(), key.get()) == 1, "its key");
  pem_ = text_of(certificate.get());
  key_pem_ = text_of(key.get());
}

}  // namespace navtalk::tests
