#include "core/net/url.h"

#include <arpa/inet.h>
#include <curl/curl.h>

#include <algorithm>

#include "core/base/cptr.h"
#include "core/base/error.h"

namespace navtalk {
namespace {

constexpr std::string_view k_localhost = "localhost";

// The part, or empty when the URL has none.
std::string part(CURLU* url, CURLUPart which) {
  char* text = nullptr;
  if (curl_url_get(url, which, &text, CURLU_DEFAULT_PORT) != CURLUE_OK) return {};
  const CPtr<char, curl_free> owned(text);
  return text;
}

std::string written(const HttpUrl& url, bool with_port) {
  std::string text = url.secure ? "https://" : "http://";
  for (const char c : url.host) text += static_cast<char>(c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c);
  if (with_port) text += ":" + std::to_string(url.port);
  text += url.path;
  while (text.ends_with('/')) text.pop_back();
  return text;
}

std::string base_or_text(const std::string& url) {
  try {
    return parse_http_url(url).base();
  } catch (const Error&) {
    return url;  // not a URL
  }
}

}  // namespace

std::string HttpUrl::base() const { return written(*this, port != (secure ? 443 : 80)); }

bool HttpUrl::loopback() const {
  if (std::equal(host.begin(), host.end(), k_localhost.begin(), k_localhost.end(),
                 [](char a, char b) { return (a | 0x20) == b; })) {
    return true;
  }
  in_addr four{};
  if (inet_pton(AF_INET, host.c_str(), &four) == 1) return ntohl(four.s_addr) >> 24 == 127;
  if (!host.starts_with('[') || !host.ends_with(']')) return false;
  in6_addr six{};
  const std::string number = host.substr(1, host.size() - 2);
  return inet_pton(AF_INET6, number.c_str(), &six) == 1 && IN6_IS_ADDR_LOOPBACK(&six);
}

std::string HttpUrl::canonical() const { return written(*this, true); }

bool same_base(const std::string& a, const std::string& b) {
  return a == b || base_or_text(a) == base_or_text(b);
}

HttpUrl parse_http_url(const std::string& url) {
  const CPtr<CURLU, curl_url_cleanup> parsed(curl_url());
  const CURLUcode code =
      curl_url_set(parsed.get(), CURLUPART_URL, url.c_str(), CURLU_DISALLOW_USER);
  if (code == CURLUE_USER_NOT_ALLOWED) {
    throw Error(Code::invalid, "a URL must not hold a user or password: give a token file instead");
  }
  const std::string scheme = part(parsed.get(), CURLUPART_SCHEME);
  const bool known = scheme == "http" || scheme == "https";
  if (code != CURLUE_OK || !known || url.find('\0') != std::string::npos) {
    // The text itself is not shown: a slip may have put a secret there.
    throw Error(Code::invalid, "not an http:// or https:// URL");
  }
  HttpUrl result;
  result.secure = scheme == "https";
  result.host = part(parsed.get(), CURLUPART_HOST);
  result.port = std::stoi(part(parsed.get(), CURLUPART_PORT));
  result.path = part(parsed.get(), CURLUPART_PATH);
  const std::string query = part(parsed.get(), CURLUPART_QUERY);
  if (!query.empty()) result.path += "?" + query;
  return result;
}

}  // namespace navtalk
