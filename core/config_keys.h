// The table of configuration keys: one row documents a key, reads it and shows it.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "core/config.h"

namespace navtalk {

struct ConfigKey {
  using Member = std::variant<std::string*, std::filesystem::path*>;

  std::string_view section, name;
  std::string_view meaning;          // for the example file: sentences
  std::vector<std::string> choices;  // empty: any text
  Member (*member)(Config&);

  std::string full_name() const;  // "log.level"
  std::string variable() const;   // "NAVTALK_LOG_LEVEL"
};

const std::vector<ConfigKey>& config_keys();

// The value as text, and the same as it stands in TOML, quoted.
std::string config_value(const Config& config, const ConfigKey& key);
std::string toml_string(std::string_view text);

// Sets the key; nullopt, or what is wrong with the text ("'wran' is not one of ...").
std::optional<std::string> set_config_value(Config& config, const ConfigKey& key,
                                            const std::string& text);

// The commented example, every key at its default: packaging/navtalk.toml.
std::string example_config();

}  // namespace navtalk
