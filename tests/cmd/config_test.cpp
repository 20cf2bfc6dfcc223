#include <algorithm>
#include <catch2/catch.hpp>
#include <fstream>
#include <nlohmann/json.hpp>

#include "tests/cmd/shell.h"
#include "tests/temporary_directory.h"

using navtalk::tests::contains;
using navtalk::tests::Ran;
using navtalk::tests::shell;
using navtalk::tests::TemporaryDirectory;

TEST_CASE("flags stand over variables, variables over the file, the file over defaults") {
  const TemporaryDirectory top;
  std::ofstream(top / "n.toml") << "[log]\nlevel = \"error\"\nformat = \"json\"\n";
  const Ran ran = shell(
      "navtalk --config n.toml config show\n"
      "NAVTALK_LOG_LEVEL=info navtalk --config n.toml config show\n"
      "NAVTALK_LOG_LEVEL=info navtalk --config n.toml --log-level debug config show",
      top.path());
  CHECK(ran.status == 0);
  CHECK(contains(ran.out, "level = \"error\"  # n.toml:2\n"));
  CHECK(contains(ran.out, "level = \"info\"  # NAVTALK_LOG_LEVEL\n"));
  CHECK(contains(ran.out, "level = \"debug\"  # --log-level\n"));
  CHECK(contains(ran.out, "format = \"json\"  # n.toml:3\n"));
  CHECK(contains(ran.out, "[avatars]\npath = \"\"  # default\n"));
}

TEST_CASE("config show --json names value and origin of every key") {
  const auto object =
      nlohmann::json::parse(shell("NAVTALK_MODELS_PATH=/m navtalk config show --json").out);
  const auto& keys = object.at("keys");
  CHECK(std::find(keys.begin(), keys.end(),
                  nlohmann::json({{"key", "models.path"},
                                  {"value", "/m"},
                                  {"origin", "NAVTALK_MODELS_PATH"}})) != keys.end());
  CHECK(std::find(keys.begin(), keys.end(),
                  nlohmann::json(
                      {{"key", "pool.min_running_gpu"}, {"value", 1}, {"origin", "default"}})) !=
        keys.end());
}

TEST_CASE("a fault in the configuration stops every command with 3, file, line and key") {
  const TemporaryDirectory top;
  std::ofstream(top / "n.toml") << "[log]\nlevle = \"info\"\n";
  for (const char* line : {"navtalk --config n.toml config check", "navtalk config check n.toml",
                           "navtalk --config n.toml fix-filenames ."}) {
    const Ran ran = shell(line, top.path());
    CHECK(ran.status == 3);
    CHECK(ran.err ==
          "navtalk: error: n.toml:2:1: unknown key 'levle' in [log] (did you mean 'level'?)\n");
  }
  CHECK(shell("navtalk --config n.toml completions bash", top.path()).status == 0);
}

TEST_CASE("a configuration file that is named must be there") {
  CHECK(shell("navtalk --config /nowhere.toml config show").status == 4);
  CHECK(shell("navtalk config check /nowhere.toml").status == 4);
  CHECK(shell("navtalk config check /etc").status == 3);
}

TEST_CASE("config check refuses what cannot work together, with key, place and remedy") {
  struct Row {
    std::string file, said;
  };
  const auto row = GENERATE(values<Row>({
      {"[pool]\ncloud = 'on'\n[runpod]\ngpu_types = ['NVIDIA A40']",
       "pool.cloud (n.toml:2) = \"on\" makes no pod without runpod.image"},
      {"[pool]\ncloud = 'auto'\n[runpod]\nimage = 'i'",
       "pool.cloud (n.toml:2) = \"auto\" makes no pod without runpod.gpu_types"},
      {"[pool]\nmin_running_gpu = 3",
       "pool.min_running_gpu (n.toml:2) = 3 keeps more slots free than pool.free_running_gpu "
       "(default) = 2 lets stay"},
      {"[pool]\npolicy = 'adaptive'\nmin_running_gpu = 3\nfree_running_gpu = 1",
       "pool.free_running_gpu (n.toml:4) = 1"},
      {"[local]\ndevices = ['gpu7']", "local.devices (n.toml:2): device 'gpu7' is not one of"},
      {"[local]\ndevices = ['cpu', 'none']", "device 'none' is not one of"},
      {"[local]\ndevices = ['auto']", "device 'auto' is for a worker that is started by hand"},
      {"[local]\ndevices = ['cpu', 'cpu']", "names 'cpu' twice"},
      {"[runpod]\nproxy_url = 'http://127.0.0.1'", "runpod.proxy_url (n.toml:2)"},
      {"[runpod]\ngpu_types = ['A40']\nallow_unknown_price = ['A41']",
       "runpod.allow_unknown_price (n.toml:3) names 'A41', which runpod.gpu_types lacks"},
      {"[runpod]\ngpu_types = ['A40']\nmax_usd_per_type = ['A41=1']",
       "runpod.max_usd_per_type (n.toml:3) names 'A41', which runpod.gpu_types lacks"},
      {"[runpod]\ngpu_types = ['A40']\nmax_usd_per_type = ['SECURE=1', 'A41, SECURE=1']",
       "runpod.max_usd_per_type (n.toml:3) names 'A41', which runpod.gpu_types lacks"},
      {"[runpod]\ngpu_types = ['A40']\nmax_usd_per_type = ['A40: 1']",
       "runpod.max_usd_per_type (n.toml:3): 'A40: 1' is not a valid price limit"},
      {"[runpod]\nvolume = 'v'\ndata_centers = ['a', 'b']",
       "runpod.volume (n.toml:2) is in one data centre"},
      {"[kubernetes]\nimage = 'i'\nkubeconfig = '/nowhere/config'",
       "kubernetes.kubeconfig (n.toml:3) = '/nowhere/config': there is no such file"},
      {"[kubernetes]\nimage = 'i'\napi_url = 'https://k'\ntoken_file = '/nowhere/token'",
       "kubernetes.token_file (n.toml:4) = '/nowhere/token': there is no such file"},
      {"[trace]\nurl = 'ftp://collector'", "trace.url (n.toml:2): "},
  }));
  const TemporaryDirectory top;
  std::ofstream(top / "n.toml") << row.file << "\n";
  const Ran ran = shell("navtalk config check n.toml", top.path());
  INFO(row.file << "\n" << ran.err);
  CHECK(ran.status == 3);
  CHECK(contains(ran.err, row.said));
  // The others say so and go on.
  const Ran other =
      shell("NAVTALK_LOG_FORMAT=text navtalk --config n.toml config show", top.path());
  CHECK(other.status == 0);
  CHECK(contains(other.err, row.said));
}

TEST_CASE("what belongs together is good") {
  const auto text =
      GENERATE(as<std::string>(), "[local]\ndevices = ['none']", "[local]\ndevices = ['cpu']",
               "[pool]\nmin_running_gpu = 2", "[pool]\npolicy = 'adaptive'\nmin_running_gpu = 5",
               "[pool]\ncloud = 'on'\n[runpod]\nimage = 'i'\ngpu_types = ['t']");
  const TemporaryDirectory top;
  std::ofstream(top / "n.toml") << text << "\n";
  const Ran ran = shell("navtalk config check n.toml", top.path());
  INFO(text << "\n" << ran.err);
  CHECK(ran.status == 0);
}

TEST_CASE("a ceiling that limits the adaptive policy is mentioned where it takes effect") {
  struct Row {
    std::string file;
    bool said;
  };
  const auto row = GENERATE(values<Row>({
      {"policy = 'adaptive'\nfree_running_gpu = 4", true},
      {"policy = 'adaptive'", false},
      {"policy = 'static'\nfree_running_gpu = 4", false},
  }));
  const TemporaryDirectory top;
  std::ofstream(top / "n.toml") << "[pool]\n" << row.file << "\n[local]\ndevices = ['none']\n";
  const std::string navtalk = "STATE_DIRECTORY=. NAVTALK_LOG_FORMAT=text navtalk --config n.toml ";
  const std::string warning = "pool.free_running_gpu (n.toml:3) = 4 limits the adaptive policy";
  const Ran check = shell(navtalk + "config check", top.path());
  CHECK(check.status == 0);
  CHECK(contains(check.out, warning) == row.said);
  const Ran json = shell(navtalk + "--json config check", top.path());
  CHECK(contains(json.out, warning) == row.said);
  const Ran plan = shell(navtalk + "pool scale --dry-run", top.path());
  INFO(plan.err);
  CHECK(plan.status == 0);
  CHECK(contains(plan.err, warning) == row.said);
  CHECK(shell(navtalk + "pool scale", top.path()).err.empty());
}

TEST_CASE("config check mentions variables that name no key") {
  const Ran ran = shell("NAVTALK_LOG_LEVLE=info navtalk config check");
  CHECK(ran.status == 0);
  CHECK(contains(ran.out, "the variable NAVTALK_LOG_LEVLE names no key"));
}

TEST_CASE("a warning names a variable that is not a key, once, unless the log is off") {
  const std::string slip = "NAVTALK_MODEL_PATH=/m NAVTALK_LOG_FORMAT=text navtalk ";
  for (const char* command : {"config show", "fix-filenames --dry-run /proc/self/net/stat"}) {
    const Ran ran = shell(slip + command);
    CAPTURE(ran.err);
    CHECK(ran.status == 0);
    const std::size_t at = ran.err.find("NAVTALK_MODEL_PATH names no key and has no effect");
    REQUIRE(at != std::string::npos);
    CHECK(ran.err.find("NAVTALK_MODEL_PATH names", at + 1) == std::string::npos);
    CHECK(contains(ran.err, "did you mean 'NAVTALK_MODELS_PATH'"));
  }
  CHECK(shell(slip + "--log-level off config show").err.empty());
  CHECK(shell(slip + "--log-level error config show").err.empty());
}

TEST_CASE("the example file is good, current, and changes nothing") {
  const Ran example = shell("navtalk config example");
  std::ifstream packaged(NAVTALK_SOURCE "/packaging/navtalk.toml");
  INFO("make it again with: navtalk config example > packaging/navtalk.toml");
  CHECK(example.out == std::string(std::istreambuf_iterator<char>(packaged), {}));
  const std::string file = NAVTALK_SOURCE "/packaging/navtalk.toml";
  CHECK(shell("navtalk config check " + file).status == 0);
  const auto plain = nlohmann::json::parse(shell("navtalk --json config show").out);
  const auto same = nlohmann::json::parse(shell("navtalk --json config show --config " + file).out);
  for (std::size_t i = 0; i < plain.at("keys").size(); ++i) {
    CHECK(plain["keys"][i]["value"] == same["keys"][i]["value"]);
  }
}
