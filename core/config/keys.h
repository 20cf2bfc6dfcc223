// The table of configuration keys: one row documents a key, reads it and shows it.
#pragma once

#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/config/config.h"
#include "core/config/value.h"

namespace navtalk {

struct ConfigKey {
  std::string_view section, name;
  std::string_view meaning;  // for the example file: sentences
  ConfigMember (*member)(Config&);
  std::vector<std::string> choices{};                        // empty: any text
  double least = 0, most = std::numeric_limits<int>::max();  // numbers only, both allowed
  std::string_view alias{};  // another variable of the same meaning, below the long form
  bool live = false;         // SIGHUP applies it; others need a restart

  std::string full_name() const;  // "log.level"
  std::string variable() const;   // "NAVTALK_LOG_LEVEL"
};

const std::vector<ConfigKey>& config_keys();

ConfigValue config_value(const Config& config, const ConfigKey& key);

// Sets the key; nullopt, or what is wrong with the value ("'wran' is not one of ..."). The value
// must be of the key's kind.
std::optional<std::string> set_config_value(Config& config, const ConfigKey& key,
                                            const ConfigValue& value);
// The same from a variable's text: numbers as usual, true or false, lists with commas.
std::optional<std::string> set_config_text(Config& config, const ConfigKey& key,
                                           const std::string& text);

// The commented example, every key at its default: packaging/navtalk.toml.
std::string example_config();

}  // namespace navtalk
