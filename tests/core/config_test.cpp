#include "core/config.h"

#include <catch2/catch.hpp>
#include <fstream>

#include "core/config_keys.h"
#include "core/error.h"
#include "tests/temporary_directory.h"

using namespace navtalk;
using navtalk::tests::TemporaryDirectory;

namespace {

std::string faults(const std::string& toml, std::vector<std::string> environment = {}) {
  const TemporaryDirectory top;
  std::ofstream(top / "n.toml") << toml;
  try {
    read_config({.file = top / "n.toml", .environment = std::move(environment)});
  } catch (const Error& error) {
    CHECK(error.code() == Code::invalid);
    std::string message = error.message();
    const std::string folder = top.path().native() + "/";
    for (auto at = message.find(folder); at != std::string::npos; at = message.find(folder)) {
      message.erase(at, folder.size());
    }
    return message;
  }
  return "";
}

}  // namespace

TEST_CASE("every fault names file, line, column and key") {
  struct Row {
    std::string toml, said;
  };
  const auto row = GENERATE(values<Row>({
      {"[log]\nlevle = 'info'", "n.toml:2:1: unknown key 'levle' in [log] (did you mean 'level'?)"},
      {"[lgo]\nlevel = 'info'", "n.toml:1:2: unknown section 'lgo' (did you mean 'log'?)"},
      {"level = 'info'", "n.toml:1:1: unknown key 'level'"},
      {"log = 'info'", "n.toml:1:1: 'log' is a section: write [log]"},
      {"[log]\n\nlevel = 3", "n.toml:3:9: log.level must be a string, in quotes"},
      {"[log]\nlevel = 'wran'",
       "n.toml:2:9: log.level: 'wran' is not one of trace, debug, info, warn, error, off (did you "
       "mean 'warn'?)"},
      {"[log]\nlevel = 'x'\nformat = 'y'",
       "n.toml:3:10: log.format: 'y' is not one of auto, text, json\n"
       "n.toml:2:9: log.level: 'x' is not one of trace, debug, info, warn, error, off"},
  }));
  CHECK(faults(row.toml) == row.said);
}

TEST_CASE("text that is not TOML is told with its line") {
  CHECK(faults("[log]\nlevel = \n").starts_with("n.toml:2:"));
  CHECK(faults("[log]\n[log]\n").starts_with("n.toml:2:"));
}

TEST_CASE("a bad variable is told by its name") {
  CHECK(faults("", {"NAVTALK_LOG_FORMAT=xml"}) ==
        "NAVTALK_LOG_FORMAT: 'xml' is not one of auto, text, json");
}

TEST_CASE("variables override the file, empty ones do not, unknown ones are listed") {
  const TemporaryDirectory top;
  std::ofstream(top / "n.toml") << "[models]\npath = 'models'\n[log]\nlevel = 'info'\n";
  const ConfigReading reading =
      read_config({.file = top / "n.toml",
                   .environment = {"NAVTALK_LOG_LEVEL=", "NAVTALK_MODELS_PATH=/a=b",
                                   "NAVTALK_LOG_X=1", "NAVTALK_CACHE=/c", "PATH=/bin"}});
  CHECK(reading.config.models.path == "/a=b");
  CHECK(reading.config.log.level == "info");
  CHECK(reading.unknown_variables == std::vector<std::string>{"NAVTALK_LOG_X"});
  CHECK(reading.file == top / "n.toml");
}

TEST_CASE("a relative path in the file is meant from the file's folder") {
  const TemporaryDirectory top;
  std::ofstream(top / "n.toml") << "[models]\npath = 'models'\n[avatars]\npath = '/abs'\n";
  const Config config = read_config({.file = top / "n.toml", .environment = {}}).config;
  CHECK(config.models.path == top / "models");
  CHECK(config.avatars.path == "/abs");
}

TEST_CASE("a value survives being written as TOML") {
  const TemporaryDirectory top;
  const std::string odd = "/a \"b\" \\ \r\n\x7f \xC3\xA9";
  std::ofstream(top / "n.toml") << "[models]\npath = " << toml_string(odd) << "\n";
  CHECK(read_config({.file = top / "n.toml", .environment = {}}).config.models.path == odd);
}
