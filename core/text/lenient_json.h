// JSON from servers that we do not control: fields may be missing, null, of another type, or
// numbers written as text; what is unknown is passed over. Stateless.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace navtalk {

// Every function takes any JSON value; what is not an object has no fields.
std::optional<std::string> text_field(const nlohmann::json& object, const char* name);
// A number, or text that is one as a whole ("0.44").
std::optional<double> number_field(const nlohmann::json& object, const char* name);
// Numbers that are whole and fit; nullopt otherwise.
std::optional<long long> whole_field(const nlohmann::json& object, const char* name);
std::optional<bool> bool_field(const nlohmann::json& object, const char* name);
// The field if it is an object or array of that kind; else an empty one.
const nlohmann::json& object_field(const nlohmann::json& object, const char* name);
const nlohmann::json& array_field(const nlohmann::json& object, const char* name);
// The texts among an array's elements.
std::vector<std::string> texts_field(const nlohmann::json& object, const char* name);

// The value, or nullopt for what is not JSON, or is nested 64 levels deep.
std::optional<nlohmann::json> parse_json(std::string_view text);

}  // namespace navtalk
