#include "core/config/toml.h"

#include <toml++/toml.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <set>
#include <sstream>
#include <utility>

#include "core/base/error.h"
#include "core/base/overload.h"
#include "core/config/blocks.h"
#include "core/config/keys.h"
#include "core/text/printable.h"
#include "core/text/suggest.h"

namespace navtalk {
namespace {

std::vector<std::string> sections() {
  std::set<std::string> names;
  for (const ConfigKey& key : config_keys()) names.insert(std::string(key.section));
  names.insert("tenant");
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
    if (section.str() == "tenant") return read_blocks(section, node, reading_.config.tenants);
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
    Config& config = reading_.config;
    if (section == "pool" && name.str() == "schedule") {
      return read_blocks(name, value, config.schedules);
    }
    if (section == "pool" && name.str() == "maintenance") {
      return read_blocks(name, value, config.maintenance);
    }
    const std::optional<std::size_t> index = find_key(section, name.str());
    if (!index) {
      return fault(name.source().begin, "unknown key '" + printable(name.str()) + "' in [" +
                                            std::string(section) + "]" +
                                            did_you_mean(name.str(), names_in(section)));
    }
    const ConfigKey& key = config_keys()[*index];
    const ConfigMember member = key.member(reading_.config);
    const std::optional<ConfigValue> given = as_value(member, value);
    if (!given) {
      return fault(value.source().begin, key.full_name() + " " + std::string(demand(member)));
    }
    const auto wrong = set_config_value(reading_.config, key, *given);
    if (wrong) return fault(value.source().begin, key.full_name() + ": " + *wrong);
    reading_.origins[*index] = file_.native() + ":" + std::to_string(value.source().begin.line);
  }

  // The TOML value as one of the member's kind. A relative path is meant from the file's folder.
  std::optional<ConfigValue> as_value(const ConfigMember& member, const toml::node& node) const {
    using Given = std::optional<ConfigValue>;
    return std::visit(
        Overload{[&](const std::string*) -> Given { return exact<std::string>(node); },
                 [&](const std::filesystem::path*) -> Given {
                   const auto text = node.value_exact<std::string>();
                   if (!text) return std::nullopt;
                   return text->empty() ? std::filesystem::path() : file_.parent_path() / *text;
                 },
                 [&](const int*) -> Given {
                   const auto number = node.value_exact<std::int64_t>();
                   if (!number || !std::in_range<int>(*number)) return std::nullopt;
                   return static_cast<int>(*number);
                 },
                 [&](const double*) -> Given {
                   const auto number = node.is_number() ? node.value<double>() : std::nullopt;
                   if (!number || !std::isfinite(*number)) return std::nullopt;
                   return *number;
                 },
                 [&](const bool*) -> Given { return exact<bool>(node); },
                 [&](const std::vector<std::string>*) -> Given { return as_list(node); }},
        member);
  }

  template <class T>
  static std::optional<ConfigValue> exact(const toml::node& node) {
    const auto value = node.value_exact<T>();
    return value ? std::optional<ConfigValue>(*value) : std::nullopt;
  }

  static std::optional<ConfigValue> as_list(const toml::node& node) {
    if (!node.is_array()) return std::nullopt;
    std::vector<std::string> list;
    for (const toml::node& element : *node.as_array()) {
      const auto text = element.value_exact<std::string>();
      if (!text) return std::nullopt;
      list.push_back(*text);
    }
    return list;
  }

  // [[tenant]], [[pool.schedule]], ...: a list of blocks, each with a name of its own.
  template <class Block>
  void read_blocks(const toml::key& section, const toml::node& node, std::vector<Block>& blocks) {
    const std::string title = "[[" + block_title(Block{}) + "]]";
    if (!node.is_array_of_tables()) {
      return fault(section.source().begin, "'" + std::string(section.str()) +
                                               "' is a list of blocks: write " + title +
                                               " above each");
    }
    for (const toml::node& table : *node.as_array()) {
      Block block;
      const std::size_t faults = faults_.size();
      for (const auto& [name, value] : *table.as_table()) {
        read_block_key(block_title(block), block_keys(block), name, value);
      }
      const auto same = [&](const Block& other) { return other.name == block.name; };
      const std::string shown = title + " '" + printable(block.name) + "'";
      const auto& at = table.source().begin;
      if (block.name.empty()) {
        fault(at, "a " + title + " needs a name");
      } else if (std::any_of(blocks.begin(), blocks.end(), same)) {
        fault(at, "there are two " + title + " named '" + printable(block.name) + "'");
      } else if (const auto wrong = block_fault(block); wrong && faults_.size() == faults) {
        fault(at, shown + ": " + *wrong);
      } else {
        blocks.push_back(block);
      }
    }
  }

  void read_block_key(const std::string& title, const std::vector<BlockKey>& keys,
                      const toml::key& name, const toml::node& value) {
    const auto key = std::find_if(keys.begin(), keys.end(),
                                  [&](const BlockKey& one) { return one.name == name.str(); });
    if (key == keys.end()) {
      std::vector<std::string> known;
      for (const BlockKey& one : keys) known.push_back(one.name);
      return fault(name.source().begin, "unknown key '" + printable(name.str()) + "' in [[" +
                                            title + "]]" + did_you_mean(name.str(), known));
    }
    const std::string full = title + "." + key->name;
    const auto given = as_value(key->member, value);
    if (!given) {
      return fault(value.source().begin, full + " " + std::string(demand(key->member)));
    }
    const auto number = value.value<double>();
    if (number && (*number < key->least || *number > key->most)) {
      return fault(value.source().begin, full + " must be between " + toml_value(key->least) +
                                             " and " + toml_value(key->most));
    }
    if (const auto wrong = wrong_choice(*key, *given)) {
      return fault(value.source().begin, full + ": " + *wrong);
    }
    write_member(key->member, *given);
  }

  static std::optional<std::string> wrong_choice(const BlockKey& key, const ConfigValue& value) {
    if (key.choices.empty()) return std::nullopt;
    std::vector<std::string> texts;
    if (const auto* text = std::get_if<std::string>(&value)) texts = {*text};
    if (const auto* list = std::get_if<std::vector<std::string>>(&value)) texts = *list;
    std::string known;
    for (const std::string& choice : key.choices) known += (known.empty() ? "" : ", ") + choice;
    for (const std::string& text : texts) {
      if (std::find(key.choices.begin(), key.choices.end(), text) != key.choices.end()) continue;
      return "'" + printable(text) + "' is not one of " + known + did_you_mean(text, key.choices);
    }
    return std::nullopt;
  }

  void fault(const toml::source_position& at, const std::string& what) {
    faults_.push_back(printable(file_.native()) + ":" + std::to_string(at.line) + ":" +
                      std::to_string(at.column) + ": " + what);
  }

  std::filesystem::path file_;
  ConfigReading& reading_;
  std::vector<std::string>& faults_;
};

}  // namespace

void read_config_file(const std::filesystem::path& file, ConfigReading& reading,
                      std::vector<std::string>& faults) {
  FileReader(file, reading, faults).read();
}

}  // namespace navtalk
