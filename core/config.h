// What an operator sets: the file (TOML), over it NAVTALK_<SECTION>_<KEY> variables, over them
// flags. A plain value; components get their own Options made from it, never the whole.
#pragma once

#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace navtalk {

// A new member here gets its row in the table of config_keys.cpp; reading, `config show`, the
// example file and the tests of the manual follow from that row.
struct Config {
  struct {
    std::filesystem::path path;  // MuseTalk's checkpoint folder; empty: the demo model
  } models;
  struct {
    std::filesystem::path path;  // where avatars are looked for by id; empty: the demo avatars
  } avatars;
  struct {
    std::string level = "warn";   // trace, debug, info, warn, error, off
    std::string format = "auto";  // auto (text on a terminal, JSON otherwise), text, json
  } log;
};

// A configuration and where each value of it comes from.
struct ConfigReading {
  Config config;
  std::optional<std::filesystem::path> file;  // the file that was read
  // One for each of config_keys(): "default", "navtalk.toml:3", "NAVTALK_LOG_LEVEL", "--log-level".
  std::vector<std::string> origins;
  // Variables that look like ours but name no key: a slip, or another program's.
  std::vector<std::string> unknown_variables;
};

struct ConfigOptions {
  std::optional<std::filesystem::path>
      file;                              // must exist when given; else k_config_file if it does
  std::vector<std::string> environment;  // "NAME=value"; see process_environment()
};
inline constexpr const char* k_config_file = "/etc/navtalk/navtalk.toml";

// Error{not_found} for a named file that is missing; Error{invalid} with every fault of the file
// and of the variables, one a line, each with file, line, column and key, or the variable's name.
// Relative paths in the file are meant from the file's folder; an empty variable is as good as
// none.
ConfigReading read_config(const ConfigOptions& options);

std::vector<std::string> process_environment();

}  // namespace navtalk
