#include "core/text/lenient_json.h"

#include <cmath>
#include <nlohmann/json.hpp>
#include <utility>

#include "core/text/bounded_json.h"
#include "core/text/number.h"

namespace navtalk {
namespace {

using nlohmann::json;

constexpr int k_most_levels = 63;

const json* find(const json& object, const char* name) {
  if (!object.is_object()) return nullptr;
  const auto found = object.find(name);
  return found == object.end() || found->is_null() ? nullptr : &*found;
}

const json& field_or(const json& object, const char* name, json::value_t type, const json& empty) {
  const json* const field = find(object, name);
  return field != nullptr && field->type() == type ? *field : empty;
}

}  // namespace

std::optional<std::string> text_field(const json& object, const char* name) {
  const json* const field = find(object, name);
  if (field == nullptr || !field->is_string()) return std::nullopt;
  return field->get<std::string>();
}

std::optional<double> number_field(const json& object, const char* name) {
  const json* const field = find(object, name);
  if (field == nullptr) return std::nullopt;
  if (field->is_number()) return field->get<double>();
  return field->is_string() ? parse_number<double>(field->get<std::string>()) : std::nullopt;
}

std::optional<long long> whole_field(const json& object, const char* name) {
  const std::optional<double> number = number_field(object, name);
  // 2^53: up to there a double holds every whole number.
  if (!number || std::floor(*number) != *number || std::abs(*number) > 9007199254740992.0) {
    return std::nullopt;
  }
  return static_cast<long long>(*number);
}

std::optional<bool> bool_field(const json& object, const char* name) {
  const json* const field = find(object, name);
  if (field == nullptr || !field->is_boolean()) return std::nullopt;
  return field->get<bool>();
}

const json& object_field(const json& object, const char* name) {
  static const json k_empty = json::object();
  return field_or(object, name, json::value_t::object, k_empty);
}

const json& array_field(const json& object, const char* name) {
  static const json k_empty = json::array();
  return field_or(object, name, json::value_t::array, k_empty);
}

std::vector<std::string> texts_field(const json& object, const char* name) {
  std::vector<std::string> texts;
  for (const json& element : array_field(object, name)) {
    if (element.is_string()) texts.push_back(element.get<std::string>());
  }
  return texts;
}

std::optional<json> parse_json(std::string_view text) {
  auto parsed = parse_bounded(text, {.bytes = text.size(), .levels = k_most_levels});
  if (auto* value = std::get_if<json>(&parsed)) return std::move(*value);
  return std::nullopt;
}

}  // namespace navtalk
