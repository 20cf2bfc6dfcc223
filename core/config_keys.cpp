#include "core/config_keys.h"

#include <algorithm>
#include <cctype>

#include "core/printable.h"
#include "core/suggest.h"

namespace navtalk {

const std::vector<ConfigKey>& config_keys() {
  static const std::vector<ConfigKey> keys = {
      {"models",
       "path",
       "MuseTalk's checkpoint folder, as the Python project downloads it (models/ there).\n"
       "Empty: the demo model that comes with navtalk.",
       {},
       [](Config& config) -> ConfigKey::Member { return &config.models.path; }},
      {"avatars",
       "path",
       "The folder in which avatars are looked for by their id. Empty: the demo avatars.",
       {},
       [](Config& config) -> ConfigKey::Member { return &config.avatars.path; }},
      {"log",
       "level",
       "What is logged on standard error.",
       {"trace", "debug", "info", "warn", "error", "off"},
       [](Config& config) -> ConfigKey::Member { return &config.log.level; }},
      {"log",
       "format",
       "auto: text on a terminal, one JSON object a line otherwise.",
       {"auto", "text", "json"},
       [](Config& config) -> ConfigKey::Member { return &config.log.format; }},
  };
  return keys;
}

std::string ConfigKey::full_name() const { return std::string(section) + "." + std::string(name); }

std::string ConfigKey::variable() const {
  std::string text = "NAVTALK_" + std::string(section) + "_" + std::string(name);
  std::transform(text.begin(), text.end(), text.begin(),
                 [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
  return text;
}

std::string config_value(const Config& config, const ConfigKey& key) {
  Config copy = config;  // members are reached through Config&, for reading as for writing
  return std::visit([](const auto* member) { return std::filesystem::path(*member).native(); },
                    key.member(copy));
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

std::optional<std::string> set_config_value(Config& config, const ConfigKey& key,
                                            const std::string& text) {
  const auto& choices = key.choices;
  if (!choices.empty() && std::find(choices.begin(), choices.end(), text) == choices.end()) {
    std::string known;
    for (const std::string& choice : choices) known += (known.empty() ? "" : ", ") + choice;
    return "'" + printable(text) + "' is not one of " + known + did_you_mean(text, choices);
  }
  std::visit([&](auto* member) { *member = text; }, key.member(config));
  return std::nullopt;
}

std::string example_config() {
  std::string text =
      "# navtalk's configuration: /etc/navtalk/navtalk.toml, or the file named with --config.\n"
      "# Every key may also be set as a variable, NAVTALK_<SECTION>_<KEY>, which overrides the\n"
      "# file. See navtalk.toml(5). All keys stand here with their defaults.\n";
  std::string_view section;
  for (const ConfigKey& key : config_keys()) {
    if (key.section != section) text += "\n[" + std::string(key.section) + "]\n";
    section = key.section;
    for (std::string_view rest = key.meaning; !rest.empty();) {
      const std::size_t end = std::min(rest.find('\n'), rest.size());
      text += "# " + std::string(rest.substr(0, end)) + "\n";
      rest.remove_prefix(std::min(end + 1, rest.size()));
    }
    if (!key.choices.empty()) {
      std::string known;
      for (const std::string& choice : key.choices) known += (known.empty() ? "" : ", ") + choice;
      text += "# One of " + known + ".\n";
    }
    text += std::string(key.name) + " = " + toml_string(config_value(Config{}, key)) + "\n";
  }
  return text;
}

}  // namespace navtalk
