// One value of the configuration: its kinds, and how each stands in TOML and in a variable.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace navtalk {

using ConfigValue =
    std::variant<std::string, std::filesystem::path, int, double, bool, std::vector<std::string>>;
// Where a value lies in a Config.
using ConfigMember = std::variant<std::string*, std::filesystem::path*, int*, double*, bool*,
                                  std::vector<std::string>*>;

ConfigValue read_member(const ConfigMember& member);
// The value must be of the member's kind.
void write_member(const ConfigMember& member, const ConfigValue& value);

// What a value of this kind must be: "must be a string, in quotes", "must be a whole number", ...
std::string_view demand(const ConfigMember& member);
// The text of a variable as a value of the member's kind; nullopt for other text. A list is
// separated by commas.
std::optional<ConfigValue> parse_config_value(const ConfigMember& member, const std::string& text);

// As it stands in TOML: quoted text, numbers, true, ["a", "b"].
std::string toml_value(const ConfigValue& value);
std::string toml_string(std::string_view text);

}  // namespace navtalk
