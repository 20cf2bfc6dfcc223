// What an HTTP client must know of a URL before it calls. Stateless.
#pragma once

#include <string>

namespace navtalk {

struct HttpUrl {
  bool secure = false;  // https
  std::string host{};   // IPv6 in brackets
  int port = 0;
  std::string path{};  // with the query; at least "/"

  // "localhost", or a loopback address.
  bool loopback() const;
  // Host and port. Messages show these of any URL, whatever its query holds.
  std::string authority() const { return host + ":" + std::to_string(port); }
  // The one way to write it as the base of paths: names in lower case, no default port, no slash at
  // the end.
  std::string base() const;
  // The same with the port always: for what must not change with the way of writing.
  std::string canonical() const;
};

// Error{invalid} for what is not an http or https URL, and for one that carries a user or a
// password: it would end up in logs.
HttpUrl parse_http_url(const std::string& url);
// Do both lead to the same address, however they are written? A name and its address are two. What is
// not a URL is the same as its own text.
bool same_base(const std::string& a, const std::string& b);

}  // namespace navtalk
