// One request on one of curl's handles, and what comes back: what HttpClient and AsyncHttpClient share.
// Private to core/net. Used by one thread at a time.
#pragma once

#include <curl/curl.h>

#include <array>
#include <string>

#include "core/base/cptr.h"
#include "core/base/unique_fd.h"
#include "core/net/http_client.h"

namespace navtalk {

// Before any other call of curl; thread-safe.
void initialise_curl();

class HttpExchange {
 public:
  // Error{invalid} for an invalid URL, or a header with a line break; errors of the body's file.
  explicit HttpExchange(HttpRequest request);
  HttpExchange(const HttpExchange&) = delete;
  HttpExchange& operator=(const HttpExchange&) = delete;

  // Sets the handle to this request. It then points into the exchange until the transfer is over.
  void prepare(CURL* curl);
  // Once, after the transfer ended with that code.
  HttpResult result(CURLcode code);
  const std::string& authority() const { return authority_; }
  // Did it connect? The server may have acted on the request then.
  bool sent() const { return sent_; }
  // Of a transfer that was given up.
  HttpResult stopped() const;
  // This process lacks what the transfer needs: whatever becomes of it is not the server's fault.
  void note_shortage() { shortage_ = true; }

 private:
  static std::size_t on_header(char* bytes, std::size_t, std::size_t size, void* self);
  static std::size_t on_body(char* bytes, std::size_t, std::size_t size, void* self);
  static std::size_t on_read(char* bytes, std::size_t, std::size_t size, void* self);
  static int on_connected(void* self, char*, char*, int, int);
  static curl_socket_t open_socket(void* self, curlsocktype purpose, curl_sockaddr* address);
  bool is_own_shortage(CURLcode code) const;
  HttpFault::Kind kind_of(CURLcode code) const;
  bool refused() const;
  void prepare_body(CURL* curl);
  void sign(CURL* curl);
  std::string reason(CURLcode code) const;

  HttpRequest request_;
  std::string authority_;
  UniqueFd body_file_;
  curl_off_t body_file_bytes_ = 0;
  CURL* curl_ = nullptr;  // since prepare()
  CPtr<curl_slist, curl_slist_free_all> headers_{};
  std::array<char, CURL_ERROR_SIZE> details_{};
  HttpAnswer answer_{};
  std::size_t header_bytes_ = 0;
  bool sent_ = false;
  bool too_long_ = false;
  bool shortage_ = false;
  bool not_public_ = false;  // an address was refused for that
  bool switched_ = false;    // 101: what follows is another protocol
};

}  // namespace navtalk
