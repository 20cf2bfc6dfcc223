#include "core/config/value.h"

#include <fmt/format.h>

#include "core/base/check.h"
#include "core/base/overload.h"
#include "core/text/number.h"
#include "core/text/printable.h"
#include "core/text/trim.h"

namespace navtalk {
namespace {

template <class Number>
std::optional<ConfigValue> parse_value(std::string_view text) {
  if (const auto number = parse_number<Number>(trim(text))) return *number;
  return std::nullopt;
}

std::vector<std::string> parse_list(std::string_view text) {
  std::vector<std::string> words;
  while (!text.empty()) {
    const std::size_t comma = std::min(text.find(','), text.size());
    const std::string_view word = trim(text.substr(0, comma));
    if (!word.empty()) words.emplace_back(word);
    text.remove_prefix(std::min(comma + 1, text.size()));
  }
  return words;
}

}  // namespace

ConfigValue read_member(const ConfigMember& member) {
  return std::visit([](const auto* place) { return ConfigValue(*place); }, member);
}

void write_member(const ConfigMember& member, const ConfigValue& value) {
  std::visit(
      [&](auto* place) {
        const auto* given = std::get_if<std::remove_pointer_t<decltype(place)>>(&value);
        NAVTALK_CHECK(given != nullptr);
        *place = *given;
      },
      member);
}

std::string_view demand(const ConfigMember& member) {
  return std::visit(
      Overload{[](const std::string*) { return "must be a string, in quotes"; },
               [](const std::filesystem::path*) { return "must be a string, in quotes"; },
               [](const int*) { return "must be a whole number"; },
               [](const double*) { return "must be a number"; },
               [](const bool*) { return "must be true or false"; },
               [](const std::vector<std::string>*) {
                 return "must be a list of strings, such as [\"a\", \"b\"]";
               }},
      member);
}

std::optional<ConfigValue> parse_config_value(const ConfigMember& member, const std::string& text) {
  using Parsed = std::optional<ConfigValue>;
  return std::visit(
      Overload{[&](const std::string*) -> Parsed { return text; },
               [&](const std::filesystem::path*) -> Parsed { return std::filesystem::path(text); },
               [&](const int*) -> Parsed { return parse_value<int>(text); },
               [&](const double*) -> Parsed { return parse_value<double>(text); },
               [&](const bool*) -> Parsed {
                 if (text == "true" || text == "1") return true;
                 if (text == "false" || text == "0") return false;
                 return std::nullopt;
               },
               [&](const std::vector<std::string>*) -> Parsed { return parse_list(text); }},
      member);
}

std::string toml_value(const ConfigValue& value) {
  return std::visit(
      Overload{[](const std::string& text) { return toml_string(text); },
               [](const std::filesystem::path& path) { return toml_string(path.native()); },
               [](const std::vector<std::string>& list) {
                 std::string text;
                 for (const std::string& word : list) {
                   text += (text.empty() ? "" : ", ") + toml_string(word);
                 }
                 return "[" + text + "]";
               },
               // A double keeps its point, so that TOML reads it back as one.
               [](double number) {
                 std::string text = fmt::format("{}", number);
                 return text.find_first_of(".e") == std::string::npos ? text + ".0" : text;
               },
               [](auto plain) { return fmt::format("{}", plain); }},
      value);
}

std::string toml_string(std::string_view text) {
  std::string quoted = "\"";
  for (const char byte : text) {
    const auto code = static_cast<unsigned char>(byte);
    if (byte == '"' || byte == '\\') quoted += '\\';
    if (code < 0x20 || code == 0x7F) {
      quoted += "\\u00" + hex(std::string_view(&byte, 1));
    } else {
      quoted += byte;
    }
  }
  return quoted + "\"";
}

}  // namespace navtalk
