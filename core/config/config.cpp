#include "core/config/config.h"

#include <unistd.h>

#include <algorithm>
#include <map>
#include <set>

#include "core/base/environment.h"
#include "core/base/error.h"
#include "core/config/keys.h"
#include "core/config/toml.h"
#include "core/text/printable.h"
#include "core/text/suggest.h"

namespace navtalk {
namespace {

bool names_a_section(std::string_view variable) {
  for (const ConfigKey& key : config_keys()) {
    const std::string prefix = key.variable().substr(0, key.variable().size() - key.name.size());
    if (variable.starts_with(prefix)) return true;
  }
  return false;
}

std::vector<std::string> all_variables() {
  std::vector<std::string> variables;
  for (const ConfigKey& key : config_keys()) variables.push_back(key.variable());
  return variables;
}

bool looks_like_ours(const std::string& variable) {
  return names_a_section(variable) ||
         (variable.starts_with("NAVTALK_") && suggest(variable, all_variables()));
}

// Sets a key from a variable, unless the variable is missing or empty.
void read_variable(const std::string& variable, std::size_t index,
                   const std::map<std::string, std::string>& environment, ConfigReading& reading,
                   std::vector<std::string>& faults) {
  const auto entry = environment.find(variable);
  if (entry == environment.end() || entry->second.empty()) return;
  const auto wrong = set_config_text(reading.config, config_keys()[index], entry->second);
  if (wrong) faults.push_back(variable + ": " + *wrong);
  reading.origins[index] = variable;
}

void read_variables(const std::vector<std::string>& entries, ConfigReading& reading,
                    std::vector<std::string>& faults) {
  std::map<std::string, std::string> environment;
  for (const std::string& entry : entries) {
    const std::size_t equals = std::min(entry.find('='), entry.size());
    environment.emplace(entry.substr(0, equals), entry.substr(std::min(entry.size(), equals + 1)));
  }
  std::set<std::string> known;
  for (std::size_t i = 0; i < config_keys().size(); ++i) {
    const ConfigKey& key = config_keys()[i];
    known.insert(key.variable());
    if (!key.alias.empty()) {
      read_variable(std::string(key.alias), i, environment, reading, faults);
    }
    read_variable(key.variable(), i, environment, reading, faults);
  }
  for (const auto& [variable, text] : environment) {
    if (!known.contains(variable) && variable != k_started_by && looks_like_ours(variable)) {
      reading.unknown_variables.push_back(variable);
    }
  }
}

}  // namespace

ConfigReading read_config(const ConfigOptions& options) {
  ConfigReading reading;
  reading.origins.assign(config_keys().size(), "default");
  std::vector<std::string> faults;
  if (options.file) {
    read_config_file(*options.file, reading, faults);
  } else if (std::filesystem::exists(k_config_file)) {
    read_config_file(k_config_file, reading, faults);
  }
  read_variables(options.environment, reading, faults);
  if (faults.empty()) return reading;
  std::string message = faults.front();
  for (std::size_t i = 1; i < faults.size(); ++i) message += "\n" + faults[i];
  throw Error(Code::invalid, message);
}

std::string about_unknown_variable(const std::string& variable) {
  return "the variable " + printable(variable) + " names no key and has no effect" +
         did_you_mean(variable, all_variables());
}

std::vector<std::string> process_environment() {
  std::vector<std::string> entries;
  for (char** entry = environ; *entry != nullptr; ++entry) entries.emplace_back(*entry);
  return entries;
}

}  // namespace navtalk
