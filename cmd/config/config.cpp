// config check, show, example: what is configured, where each value comes from, and what contradicts.
#include "core/config/config.h"

#include <CLI/CLI.hpp>
#include <map>
#include <nlohmann/json.hpp>

#include "cmd/commands.h"
#include "cmd/config/rules.h"
#include "core/base/error.h"
#include "core/config/blocks.h"
#include "core/config/keys.h"
#include "core/text/printable.h"

namespace navtalk::cmd {
namespace {

void refuse_contradictions(const ConfigReading& reading) {
  std::string message;
  for (const std::string& found : contradictions(reading))
    message += (message.empty() ? "" : "\n") + found;
  if (!message.empty()) throw Error(Code::invalid, message);
}

int check(const std::optional<std::filesystem::path>& file, Context& context) {
  const ConfigReading reading = read_config(
      {.file = file ? file : context.config_option, .environment = process_environment()});
  refuse_contradictions(reading);
  if (context.json) {
    nlohmann::ordered_json object = {{"ok", true}};
    if (reading.file) put_path(object, "file", *reading.file);
    object["unknown_variables"] = reading.unknown_variables;
    object["warnings"] = side_effects(reading);
    context.out.json(object);
    return 0;
  }
  if (reading.file) {
    context.out.print("{}: good\n", printable(reading.file->native()));
  } else {
    context.out.print("there is no {}: the defaults are used\n", k_config_file);
  }
  for (const std::string& variable : reading.unknown_variables) {
    context.out.print("{}\n", about_unknown_variable(variable));
  }
  for (const std::string& warning : side_effects(reading)) context.out.print("{}\n", warning);
  return 0;
}

nlohmann::ordered_json as_json(const ConfigValue& value) {
  if (const auto* path = std::get_if<std::filesystem::path>(&value)) return path->native();
  return std::visit([](const auto& plain) { return nlohmann::ordered_json(plain); }, value);
}

nlohmann::ordered_json as_json(const ConfigReading& reading) {
  auto keys = nlohmann::ordered_json::array();
  for (std::size_t i = 0; i < config_keys().size(); ++i) {
    const ConfigKey& key = config_keys()[i];
    keys.push_back({{"key", key.full_name()},
                    {"value", as_json(config_value(reading.config, key))},
                    {"origin", reading.origins[i]}});
  }
  nlohmann::ordered_json object;
  if (reading.file) put_path(object, "file", *reading.file);
  object["keys"] = keys;
  const std::map<std::string, std::string> lists = {
      {"tenant", "tenants"}, {"pool.schedule", "schedules"}, {"pool.maintenance", "maintenance"}};
  for (const auto& [title, list] : lists) object[list] = nlohmann::ordered_json::array();
  each_block(reading.config, [&](const std::string& title, const std::vector<BlockKey>& block) {
    nlohmann::ordered_json shown;
    for (const BlockKey& key : block) {
      shown[key.name] = key.is_set ? as_json(read_member(key.member)) : nlohmann::ordered_json();
    }
    object[lists.at(title)].push_back(std::move(shown));
  });
  return object;
}

int show(Context& context) {
  const ConfigReading& reading = context.config_reading;
  if (context.json) {
    context.out.json(as_json(reading));
    return 0;
  }
  std::string_view section;
  for (std::size_t i = 0; i < config_keys().size(); ++i) {
    const ConfigKey& key = config_keys()[i];
    if (key.section != section) context.out.print("{}[{}]\n", i == 0 ? "" : "\n", key.section);
    section = key.section;
    context.out.print("{} = {}  # {}\n", key.name, toml_value(config_value(reading.config, key)),
                      printable(reading.origins[i]));
  }
  each_block(reading.config, [&](const std::string& title, const std::vector<BlockKey>& block) {
    context.out.print("\n[[{}]]\n", title);
    for (const BlockKey& key : block) {
      if (key.is_set) {
        context.out.print("{} = {}\n", key.name, toml_value(read_member(key.member)));
      }
    }
  });
  return 0;
}

}  // namespace

void add_config_check(Commands& commands) {
  const auto file = std::make_shared<std::optional<std::filesystem::path>>();
  CLI::App& command = commands.add({
      .group = Group::config,
      .name = "check",
      .summary = "Check a configuration file and report every fault",
      .examples = "  navtalk config check                  the file that navtalk would read\n"
                  "  navtalk config check ./navtalk.toml   before it is installed\n",
      .action = [file](Context& context) { return check(*file, context); },
      .needs_config = false,
  });
  command
      .add_option(
          "file", *file,
          "Configuration file; default: that of --config, otherwise " + std::string(k_config_file))
      ->type_name("FILE");
}

void add_config_example(Commands& commands) {
  commands.add({
      .group = Group::config,
      .name = "example",
      .summary = "Print a commented configuration file with every key at its default",
      .examples = "  navtalk config example > navtalk.toml\n",
      .action =
          [](Context& context) {
            if (context.json) {
              context.out.json({{"toml", example_config()}});
            } else {
              context.out.write(example_config());
            }
            return 0;
          },
      .needs_config = false,
  });
}

void add_config_show(Commands& commands) {
  commands.add({
      .group = Group::config,
      .name = "show",
      .summary = "Print the values in effect, each with its origin",
      .examples = "  navtalk config show\n"
                  "  NAVTALK_LOG_LEVEL=debug navtalk config show --json\n",
      .action = show,
  });
}

}  // namespace navtalk::cmd
