#include "server/http/message.h"

#include <nlohmann/json.hpp>

namespace navtalk::server {
namespace {

std::optional<std::string> find(const NamedValues& values, std::string_view name) {
  for (const auto& [key, value] : values) {
    if (key == name) return value;
  }
  return std::nullopt;
}

int digit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

std::optional<std::string> decoded(std::string_view text, bool plus_is_space) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '+' && plus_is_space) {
      out += ' ';
    } else if (text[i] != '%') {
      out += text[i];
    } else {
      const int high = i + 1 < text.size() ? digit(text[i + 1]) : -1;
      const int low = i + 2 < text.size() ? digit(text[i + 2]) : -1;
      if (high < 0 || low < 0) return std::nullopt;
      out += static_cast<char>(high * 16 + low);
      i += 2;
    }
  }
  // A NUL would end a name early in whatever C library comes to see it.
  if (out.find('\0') != std::string::npos) return std::nullopt;
  return out;
}

bool parse_query(std::string_view text, NamedValues& query) {
  while (!text.empty()) {
    const std::string_view pair = text.substr(0, text.find('&'));
    text.remove_prefix(std::min(text.size(), pair.size() + 1));
    if (pair.empty()) continue;
    const std::size_t equals = std::min(pair.find('='), pair.size());
    const auto name = decoded(pair.substr(0, equals), true);
    const auto value = decoded(pair.substr(std::min(pair.size(), equals + 1)), true);
    if (!name || !value) return false;
    query.emplace_back(*name, *value);
  }
  return true;
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
  if (target.empty() || target.front() != '/') return false;
  target = target.substr(0, target.find('#'));
  const std::size_t question = std::min(target.find('?'), target.size());
  const auto path = decoded(target.substr(0, question), false);
  if (!path) return false;
  request.path = *path;
  return question == target.size() || parse_query(target.substr(question + 1), request.query);
}

nlohmann::json json_body(const Request& request) {
  if (request.body.empty()) return nlohmann::json::object();
  nlohmann::json body = nlohmann::json::parse(request.body, nullptr, false);
  if (!body.is_object()) throw Error(Code::usage, "the body of the request is not a JSON object");
  return body;
}

}  // namespace navtalk::server
