// A fresh key and a certificate for 127.0.0.1 that it signed itself, for servers of tests.
#pragma once

#include <openssl/ssl.h>

#include <string>

#include "core/base/cptr.h"

namespace navtalk::tests {

class TlsIdentity {
 public:
  TlsIdentity();

  SSL_CTX* context() { return context_.get(); }
  // The certificate, for whoever is to trust it.
  const std::string& pem() const { return pem_; }
  // Its private key, for a server of ours.
  const std::string& key_pem() const { return key_pem_; }

 private:
  CPtr<SSL_CTX, SSL_CTX_free> context_;
  std::string pem_{}, key_pem_{};
};

}  // namespace navtalk::tests
