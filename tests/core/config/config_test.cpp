#include "core/config/config.h"

#include <catch2/catch.hpp>
#include <fstream>

#include "core/base/error.h"
#include "core/config/keys.h"
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
                                   "NAVTALK_LOG_X=1", "NAVTALK_CACHE=/c", "PATH=/bin",
                                   "NAVTALK_MODEL_PATH=/m", "NAVTALK_STARTED_BY=1"}});
  CHECK(reading.config.models.path == "/a=b");
  CHECK(reading.config.log.level == "info");
  CHECK(reading.unknown_variables ==
        std::vector<std::string>{"NAVTALK_LOG_X", "NAVTALK_MODEL_PATH"});
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

TEST_CASE("a value of the wrong kind or out of its range is told with what it must be") {
  struct Row {
    std::string toml, said;
  };
  const auto row = GENERATE(values<Row>({
      {"[pool]\nmin_running_gpu = '1'", "n.toml:2:19: pool.min_running_gpu must be a whole number"},
      {"[pool]\nmin_running_gpu = 1.5", "n.toml:2:19: pool.min_running_gpu must be a whole number"},
      {"[pool]\nmin_running_gpu = -1",
       "n.toml:2:19: pool.min_running_gpu: -1 is not between 0 and 10000"},
      {"[pool]\nmin_running_gpu = 99999999999999",
       "n.toml:2:19: pool.min_running_gpu must be a whole number"},
      {"[pool]\nwait_probability = 'low'", "n.toml:2:20: pool.wait_probability must be a number"},
      {"[pool]\nwait_probability = 2",
       "n.toml:2:20: pool.wait_probability: 2 is not between 0.0001 and 0.5"},
      {"[pool]\nwait_probability = nan", "n.toml:2:20: pool.wait_probability must be a number"},
      {"[runpod]\ngpu_types = 'A40'",
       "n.toml:2:13: runpod.gpu_types must be a list of strings, such as [\"a\", \"b\"]"},
      {"[runpod]\ngpu_types = ['A40', 3]",
       "n.toml:2:13: runpod.gpu_types must be a list of strings, such as [\"a\", \"b\"]"},
  }));
  CHECK(faults(row.toml) == row.said);
}

TEST_CASE("numbers and lists come from the file and from variables") {
  const TemporaryDirectory top;
  std::ofstream(top / "n.toml") << "[pool]\nmax_usd_per_hour = 3\nmin_running_gpu = 4\n"
                                   "[runpod]\ngpu_types = ['A40', 'L4']\n";
  const Config config = read_config({.file = top / "n.toml",
                                     .environment = {"NAVTALK_RUNPOD_DATA_CENTERS=EU-RO-1, EU-SE-1",
                                                     "NAVTALK_POOL_TICK_S=7"}})
                            .config;
  CHECK(config.pool.max_usd_per_hour == 3);
  CHECK(config.pool.min_running_gpu == 4);
  CHECK(config.pool.tick_s == 7);
  CHECK(config.runpod.gpu_types == std::vector<std::string>{"A40", "L4"});
  CHECK(config.runpod.data_centers == std::vector<std::string>{"EU-RO-1", "EU-SE-1"});
  CHECK(faults("", {"NAVTALK_POOL_TICK_S=7s"}) ==
        "NAVTALK_POOL_TICK_S: '7s': must be a whole number");
}

TEST_CASE("MIN_RUNNING_GPU and FREE_RUNNING_GPU stand over the file and below their long forms") {
  const TemporaryDirectory top;
  std::ofstream(top / "n.toml") << "[pool]\nmin_running_gpu = 4\nfree_running_gpu = 9\n";
  const ConfigReading reading =
      read_config({.file = top / "n.toml",
                   .environment = {"MIN_RUNNING_GPU=5", "NAVTALK_POOL_FREE_RUNNING_GPU=7",
                                   "FREE_RUNNING_GPU=6"}});
  CHECK(reading.config.pool.min_running_gpu == 5);
  CHECK(reading.config.pool.free_running_gpu == 7);
  CHECK(faults("", {"MIN_RUNNING_GPU=some"}) == "MIN_RUNNING_GPU: 'some': must be a whole number");
}

TEST_CASE("tenants are read, and a bad one is told with its place") {
  const TemporaryDirectory top;
  std::ofstream(top / "n.toml") << "[[tenant]]\nname = 'acme'\nplan = 2\nweight = 3\n"
                                   "[[tenant]]\nname = 'solo'\nmax_sessions = 1\n";
  const Config config = read_config({.file = top / "n.toml", .environment = {}}).config;
  CHECK(config.tenants == std::vector<TenantConfig>{{.name = "acme", .plan = 2, .weight = 3},
                                                    {.name = "solo", .max_sessions = 1}});
  CHECK(faults("[[tenant]]\nplan = 1") == "n.toml:1:1: a [[tenant]] needs a name");
  CHECK(faults("[[tenant]]\nname = 'a'\n[[tenant]]\nname = 'a'") ==
        "n.toml:3:1: there are two [[tenant]] named 'a'");
  CHECK(faults("[[tenant]]\nname = 'a'\nplna = 1") ==
        "n.toml:3:1: unknown key 'plna' in [[tenant]] (did you mean 'plan'?)");
  CHECK(faults("[[tenant]]\nname = 'a'\nweight = 0") ==
        "n.toml:3:10: tenant.weight must be between 0.001 and 1000.0");
  CHECK(faults("[tenant]\nname = 'a'") ==
        "n.toml:1:2: 'tenant' is a list of blocks: write [[tenant]] above each");
}

TEST_CASE("every key at its default survives being written and read") {
  const TemporaryDirectory top;
  std::ofstream(top / "n.toml") << example_config();
  const Config config = read_config({.file = top / "n.toml", .environment = {}}).config;
  for (const ConfigKey& key : config_keys()) {
    INFO(key.full_name());
    CHECK(config_value(config, key) == config_value(Config{}, key));
  }
}
