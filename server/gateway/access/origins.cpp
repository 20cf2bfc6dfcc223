#include "server/gateway/access/origins.h"

#include <algorithm>
#include <boost/url/parse.hpp>
#include <boost/url/url_view.hpp>

#include "core/base/error.h"
#include "core/text/printable.h"
#include "server/http/same_machine.h"

namespace navtalk::server {
namespace {

std::string lower(std::string_view text) {
  std::string copy(text);
  std::transform(copy.begin(), copy.end(), copy.begin(), [](unsigned char c) {
    return static_cast<char>(c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c);
  });
  return copy;
}

// Of the web, and of the characters of a host and a port. An assertion of Boost.URL 1.81 fails at some other ones, which ends a
// debug build.
bool may_be_origin(std::string_view lower_case) {
  constexpr std::string_view k_allowed = "abcdefghijklmnopqrstuvwxyz0123456789-._~%!$&'()*+,;=:[]";
  for (const std::string_view scheme : {"http://", "https://"}) {
    if (lower_case.starts_with(scheme))
      return lower_case.find_first_not_of(k_allowed, scheme.size()) == lower_case.npos;
  }
  return false;
}

// The page of an origin "https://example.org" was served under that name: its Host is "example.org".
bool is_of_this_server(std::string_view origin, const Request& request) {
  const std::string host = lower(request.header("host").value_or(""));
  const std::size_t name = origin.find("://");
  if (host.empty() || name == origin.npos) return false;
  const auto named = canonical_origin(std::string(origin.substr(0, name + 3)) + host);
  return named && named == canonical_origin(origin);
}

}  // namespace

std::optional<std::string> canonical_origin(std::string_view text) {
  const std::string copy = lower(text);
  if (!may_be_origin(copy)) return std::nullopt;
  const auto parsed = boost::urls::parse_uri(copy);
  if (!parsed || parsed->encoded_host().empty() || parsed->has_userinfo()) return std::nullopt;
  const std::string scheme(parsed->scheme());
  const bool bare =
      parsed->encoded_path().empty() && !parsed->has_query() && !parsed->has_fragment();
  if ((scheme != "http" && scheme != "https") || !bare) return std::nullopt;
  const std::string port(parsed->port());
  std::string origin = scheme + "://" + std::string(parsed->encoded_host());
  if (!port.empty() && port != (scheme == "https" ? "443" : "80")) origin += ":" + port;
  return origin;
}

Origins::Origins(const std::vector<std::string>& allowed) {
  for (const std::string& entry : allowed) {
    if (entry == "*") {
      all_ = true;
      continue;
    }
    const auto origin = canonical_origin(entry);
    if (!origin) {
      throw Error(Code::invalid, "server.allow_origins: '" + printable(entry) +
                                     "' is not an origin: write https://example.org, with a port "
                                     "where it is not the usual one, and without a path");
    }
    allowed_.push_back(*origin);
  }
}

bool Origins::allows(std::string_view origin) const {
  const auto canonical = canonical_origin(origin);
  return canonical &&
         (all_ || std::find(allowed_.begin(), allowed_.end(), *canonical) != allowed_.end());
}

std::optional<Response> Origins::refuse(const Request& request) const {
  const auto origin = request.header("origin");
  if (!origin || allows(*origin) || is_of_this_server(*origin, request)) return std::nullopt;
  const bool local = is_this_machine(request.header("host").value_or(""));
  if (local && is_page_of_this_machine(*origin)) return std::nullopt;
  return error_response(
      403, "forbidden",
      "pages of this origin are not served; server.allow_origins names those that "
      "are");
}

std::optional<Response> Origins::preflight(const Request& request) {
  if (request.method != "OPTIONS" || !request.header("access-control-request-method"))
    return std::nullopt;
  return Response{.status = 204,
                  .headers = {{"Access-Control-Allow-Methods", "GET, POST, DELETE"},
                              {"Access-Control-Allow-Headers", "Authorization, Content-Type"},
                              {"Access-Control-Max-Age", "600"}}};
}

void Origins::admit(const Request& request, Response& response) const {
  const auto origin = request.header("origin");
  if (!origin || !allows(*origin)) return;
  response.headers.emplace_back("Access-Control-Allow-Origin", *origin);
  response.headers.emplace_back("Vary", "Origin");
}

}  // namespace navtalk::server
