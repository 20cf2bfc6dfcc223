// A server's certificate and its key, from files, as connections use them: TLS 1.2 and 1.3, with
// forward secrecy and authenticated encryption only. Immutable; a server that gets another one uses it
// for the connections that come from then on.
#pragma once

#include <chrono>
#include <filesystem>
#include <memory>

namespace boost::asio::ssl {
class context;
}

namespace navtalk::server {

struct TlsFiles {
  std::filesystem::path certificate{};  // PEM: the server's own first, then those up to the root
  std::filesystem::path key{};          // PEM, not encrypted

  bool empty() const { return certificate.empty() && key.empty(); }
};

class TlsIdentity {
 public:
  // Error{invalid} names a file that is missing or damaged, or a key that does not belong to the
  // certificate. What others can read, and what has expired, is warned about.
  static std::shared_ptr<const TlsIdentity> load(const TlsFiles& files);
  ~TlsIdentity();
  TlsIdentity(const TlsIdentity&) = delete;
  TlsIdentity& operator=(const TlsIdentity&) = delete;

  std::chrono::system_clock::time_point expires_at() const { return expires_at_; }
  boost::asio::ssl::context& context() const { return *context_; }

 private:
  explicit TlsIdentity(std::unique_ptr<boost::asio::ssl::context> context);

  std::unique_ptr<boost::asio::ssl::context> context_;
  std::chrono::system_clock::time_point expires_at_{};
};

}  // namespace navtalk::server
