#include "core/config.h"

#include <toml++/toml.h>
#include <unistd.h>

#include <fstream>
#include <set>
#include <sstream>

#include "core/config_keys.h"
#include "core/error.h"
#include "core/printable.h"
#include "core/suggest.h"

namespace navtalk {
namespace {

std::vector<std::string> sections() {
  std::set<std::string> names;
  for (const ConfigKey& key : config_keys()) names.insert(std::string(key.section));
  return {names.begin(), names.end()};
}

std::vector<std::string> names_in(std::string_view section) {
  std::vector<std::string> names;
  for (const ConfigKey& key : config_keys()) {
    if (key.section == section) names.emplace_back(key.name);
  }
  return names;
}

std::optional<std::size_t> find_key(std::string_view section, std::string_view name) {
  for (std::size_t i = 0; i < config_keys().size(); ++i) {
    if (config_keys()[i].section == section && config_keys()[i].name == name) return i;
  }
  return std::nullopt;
}

std::string read_text(const std::filesystem::path& file) {
  const std::string shown = "'" + printable(file.native()) + "'";
  std::error_code error;
  const auto status = std::filesystem::status(file, error);
  if (!std::filesystem::exists(status)) {
    throw Error(Code::not_found, "there is no configuration file " + shown);
  }
  if (std::filesystem::is_directory(status)) {
    throw Error(Code::invalid, shown + " is a folder; name a configuration file in it");
  }
  std::ifstream in(file);
  std::stringstream text;
  // An empty file fails the extraction too: what counts is whether it could be read.
  if (in) text << in.rdbuf();
  if (!in.is_open() || in.bad()) {
    throw Error(Code::failed, "cannot read the configuration file " + shown + ": " +
                                  std::system_category().message(errno));
  }
  return text.str();
}

// Reads one file into a reading and collects what is wrong with it.
class FileReader {
 public:
  FileReader(std::filesystem::path file, ConfigReading& reading, std::vector<std::string>& faults)
      : file_(std::move(file)), reading_(reading), faults_(faults) {}

  void read() {
    const std::string text = read_text(file_);
    try {
      const toml::table root = toml::parse(text);
      for (const auto& [name, node] : root) read_section(name, node);
    } catch (const toml::parse_error& error) {
      fault(error.source().begin, std::string(error.description()));
    }
    reading_.file = file_;
  }

 private:
  void read_section(const toml::key& section, const toml::node& node) {
    const std::vector<std::string> known = sections();
    if (std::find(known.begin(), known.end(), section.str()) == known.end()) {
      return fault(section.source().begin,
                   std::string(node.is_table() ? "unknown section '" : "unknown key '") +
                       printable(section.str()) + "'" + did_you_mean(section.str(), known));
    }
    if (!node.is_table()) {
      return fault(section.source().begin, "'" + std::string(section.str()) +
                                               "' is a section: write [" +
                                               std::string(section.str()) + "]");
    }
    for (const auto& [name, value] : *node.as_table()) read_key(section.str(), name, value);
  }

  void read_key(std::string_view section, const toml::key& name, const toml::node& value) {
    const std::optional<std::size_t> index = find_key(section, name.str());
    if (!index) {
      return fault(name.source().begin, "unknown key '" + printable(name.str()) + "' in [" +
                                            std::string(section) + "]" +
                                            did_you_mean(name.str(), names_in(section)));
    }
    const ConfigKey& key = config_keys()[*index];
    const auto text = value.value_exact<std::string>();
    if (!text) return fault(value.source().begin, key.full_name() + " must be a string, in quotes");
    const auto wrong = set_config_value(reading_.config, key, resolved(key, *text));
    if (wrong) return fault(value.source().begin, key.full_name() + ": " + *wrong);
    reading_.origins[*index] = file_.native() + ":" + std::to_string(value.source().begin.line);
  }

  // A relative path is meant from the file's folder.
  std::string resolved(const ConfigKey& key, const std::string& text) {
    const bool is_path =
        std::holds_alternative<std::filesystem::path*>(key.member(reading_.config));
    return is_path && !text.empty() ? (file_.parent_path() / text).native() : text;
  }

  void fault(const toml::source_position& at, const std::string& what) {
    faults_.push_back(printable(file_.native()) + ":" + std::to_string(at.line) + ":" +
                      std::to_string(at.column) + ": " + what);
  }

  std::filesystem::path file_;
  ConfigReading& reading_;
  std::vector<std::string>& faults_;
};

bool names_a_section(std::string_view variable) {
  for (const ConfigKey& key : config_keys()) {
    const std::string prefix = key.variable().substr(0, key.variable().size() - key.name.size());
    if (variable.starts_with(prefix)) return true;
  }
  return false;
}

void read_variables(const std::vector<std::string>& environment, ConfigReading& reading,
                    std::vector<std::string>& faults) {
  for (const std::string& entry : environment) {
    const std::string variable = entry.substr(0, entry.find('='));
    if (!names_a_section(variable)) continue;
    const auto& keys = config_keys();
    const auto key = std::find_if(keys.begin(), keys.end(), [&](const ConfigKey& candidate) {
      return candidate.variable() == variable;
    });
    if (key == keys.end()) {
      reading.unknown_variables.push_back(variable);
      continue;
    }
    const std::string text = entry.substr(std::min(entry.size(), variable.size() + 1));
    if (text.empty()) continue;
    const auto wrong = set_config_value(reading.config, *key, text);
    if (wrong) faults.push_back(variable + ": " + *wrong);
    reading.origins[static_cast<std::size_t>(key - keys.begin())] = variable;
  }
}

}  // namespace

ConfigReading read_config(const ConfigOptions& options) {
  ConfigReading reading;
  reading.origins.assign(config_keys().size(), "default");
  std::vector<std::string> faults;
  if (options.file) {
    FileReader(*options.file, reading, faults).read();
  } else if (std::filesystem::exists(k_config_file)) {
    FileReader(k_config_file, reading, faults).read();
  }
  read_variables(options.environment, reading, faults);
  if (faults.empty()) return reading;
  std::string message = faults.front();
  for (std::size_t i = 1; i < faults.size(); ++i) message += "\n" + faults[i];
  throw Error(Code::invalid, message);
}

std::vector<std::string> process_environment() {
  std::vector<std::string> entries;
  for (char** entry = environ; *entry != nullptr; ++entry) entries.emplace_back(*entry);
  return entries;
}

}  // namespace navtalk
