#include "server/http/message.h"

#include <algorithm>
#include <boost/url/parse.hpp>
#include <boost/url/url_view.hpp>
#include <nlohmann/json.hpp>
#include <utility>
#include <variant>

#include "core/text/bounded_json.h"
#include "core/text/printable.h"

namespace navtalk::server {
namespace {

constexpr int k_deepest_body = 16;  // levels

std::optional<std::string> find(const NamedValues& values, std::string_view name) {
  for (const auto& [key, value] : values) {
    if (key == name) return value;
  }
  return std::nullopt;
}

// A NUL would end a name early in whatever C library comes to see it.
bool has_nul(const Request& request) {
  const auto nul = [](const std::string& text) { return text.find('\0') != std::string::npos; };
  return nul(request.path) ||
         std::any_of(request.query.begin(), request.query.end(), [&](const auto& parameter) {
           return nul(parameter.first) || nul(parameter.second);
         });
}

}  // namespace

std::optional<std::string> Request::header(std::string_view lower_case_name) const {
  return find(headers, lower_case_name);
}

std::optional<std::string> Request::parameter(std::string_view name) const {
  return find(query, name);
}

const std::string& Request::capture(std::string_view name) const {
  static const std::string k_none;
  for (const auto& [key, value] : captures) {
    if (key == name) return value;
  }
  return k_none;
}

Response json_response(int status, const nlohmann::ordered_json& body) {
  using Json = nlohmann::ordered_json;
  return {.status = status,
          .body = body.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n"};
}

Response error_response(int status, std::string_view code, std::string_view message) {
  return json_response(status, {{"error", {{"code", code}, {"message", message}}}});
}

Response error_response(const Error& error) {
  return error_response(http_status(error.code()), name(error.code()), error.message());
}

bool parse_target(std::string_view target, Request& request) {
  const std::string_view without_fragment = target.substr(0, target.find('#'));
  const auto parsed = boost::urls::parse_origin_form(without_fragment);
  if (!parsed) return false;
  request.path = parsed->path();
  for (const auto& parameter : parsed->params({/*space_as_plus*/ true})) {
    if (parameter.key.empty() && !parameter.has_value) continue;  // "&&"
    request.query.emplace_back(parameter.key, parameter.value);
  }
  return !has_nul(request);
}

// An object that has a member twice is refused, since whoever sent it may mean either.
nlohmann::json json_body(const Request& request) {
  if (request.body.empty()) return nlohmann::json::object();
  auto parsed = parse_bounded(
      request.body, {.bytes = request.body.size(), .levels = k_deepest_body, .unique_keys = true});
  if (auto* body = std::get_if<nlohmann::json>(&parsed); body != nullptr && body->is_object())
    return std::move(*body);
  using Why = JsonRefusal::Why;
  const auto* const refusal = std::get_if<JsonRefusal>(&parsed);
  if (refusal != nullptr && refusal->why == Why::repeated_key)
    throw Error(Code::usage, "the body of the request has the member '" +
                                 printable_start(refusal->detail, 64) + "' twice");
  if (refusal != nullptr && refusal->why == Why::too_deep)
    throw Error(Code::usage, "the body of the request is nested deeper than " +
                                 std::to_string(k_deepest_body) + " levels");
  throw Error(Code::usage, "the body of the request is not a JSON object");
}

}  // namespace navtalk::server
