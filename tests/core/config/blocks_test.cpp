#include "core/config/blocks.h"

#include <catch2/catch.hpp>
#include <fstream>

#include "core/base/error.h"
#include "tests/temporary_directory.h"

using namespace navtalk;
using navtalk::tests::TemporaryDirectory;

namespace {

Config read_text(const std::string& toml) {
  const TemporaryDirectory top;
  std::ofstream(top / "n.toml") << toml;
  return read_config({.file = top / "n.toml", .environment = {}}).config;
}

std::string fault_of(const std::string& toml) {
  try {
    read_text(toml);
  } catch (const Error& error) {
    return error.message().substr(error.message().find("n.toml"));
  }
  return "";
}

}  // namespace

TEST_CASE("schedules and maintenance windows are read beside the keys of the section pool") {
  const Config config = read_text(
      "[pool]\nmin_running_gpu = 1\n"
      "[[pool.schedule]]\nname = 'day'\ntime_zone = 'Europe/Berlin'\nstart = '0 8 * * *'\n"
      "end = '0 18 * * *'\nmin_running_gpu = 4\npolicy = 'adaptive'\n"
      "[[pool.schedule]]\nname = 'night'\nstart = '0 18 * * *'\nend = '0 8 * * *'\nmax_gpus = 0\n"
      "[[pool.maintenance]]\nname = 'updates'\nstart = '0 3 * * sun'\nend = '0 5 * * sun'\n"
      "drain_ahead_min = 45\nproviders = ['local']\nhosts = ['a', 'b']\n");
  CHECK(config.pool.min_running_gpu == 1);
  CHECK(config.schedules ==
        std::vector<ScheduleConfig>{
            {.name = "day",
             .time_zone = "Europe/Berlin",
             .start = "0 8 * * *",
             .end = "0 18 * * *",
             .min_running_gpu = 4,
             .policy = "adaptive"},
            {.name = "night", .start = "0 18 * * *", .end = "0 8 * * *", .max_gpus = 0}});
  CHECK(config.maintenance == std::vector<MaintenanceConfig>{{.name = "updates",
                                                              .start = "0 3 * * sun",
                                                              .end = "0 5 * * sun",
                                                              .drain_ahead_min = 45,
                                                              .providers = {"local"},
                                                              .hosts = {"a", "b"}}});
}

TEST_CASE("a fault of a schedule names the entry") {
  const std::string times = "start = '0 8 * * *'\nend = '0 9 * * *'\n";
  const auto schedule = [](const std::string& keys) {
    return fault_of("[[pool.schedule]]\nname = 'day'\n" + keys);
  };
  CHECK(schedule(times + "max_gpus = 1\n").empty());
  CHECK(schedule(times) ==
        "n.toml:1:1: [[pool.schedule]] 'day': changes nothing: set min_running_gpu, "
        "free_running_gpu, max_gpus or policy");
  CHECK(schedule("max_gpus = 1\nend = '0 9 * * *'") ==
        "n.toml:1:1: [[pool.schedule]] 'day': needs start");
  CHECK(schedule("max_gpus = 1\nstart = '0 9 * * *'\nend = '0 99 * * *'") ==
        "n.toml:1:1: [[pool.schedule]] 'day': end: '0 99 * * *': the hour '99' is not *, a number "
        "from 0 to 23, a range of them or a list");
  CHECK(schedule(times + "max_gpus = 1\ntime_zone = 'Europe/Berlinn'") ==
        "n.toml:1:1: [[pool.schedule]] 'day': time_zone: there is no time zone 'Europe/Berlinn' in "
        "/usr/share/zoneinfo");
  CHECK(schedule(times + "policy = 'statik'") ==
        "n.toml:5:10: pool.schedule.policy: 'statik' is not one of static, adaptive (did you mean "
        "'static'?)");
  CHECK(schedule(times + "max_gpu = 3") ==
        "n.toml:5:1: unknown key 'max_gpu' in [[pool.schedule]] (did you mean 'max_gpus'?)");
  CHECK(fault_of("[pool.schedule]\nname = 'day'") ==
        "n.toml:1:7: 'schedule' is a list of blocks: write [[pool.schedule]] above each");
}

TEST_CASE("a fault of a maintenance window names the entry") {
  const auto window = [](const std::string& keys) {
    return fault_of("[[pool.maintenance]]\nname = 'w'\nstart = '0 8 * * *'\nend = '0 9 * * *'\n" +
                    keys);
  };
  CHECK(window("").empty());
  CHECK(window("hosts = ['a']").empty());
  CHECK(window("providers = ['clod']") ==
        "n.toml:5:13: pool.maintenance.providers: 'clod' is not one of local, external, runpod, "
        "kubernetes");
  CHECK(window("providers = ['runpod']\nhosts = ['a']") ==
        "n.toml:1:1: [[pool.maintenance]] 'w': hosts have local GPUs only: leave out providers");
  CHECK(window("drain_ahead_min = -1") ==
        "n.toml:5:19: pool.maintenance.drain_ahead_min must be between 0.0 and 1440.0");
}

TEST_CASE("blocks are shown with the keys that are set") {
  Config config;
  config.tenants = {{.name = "acme"}};
  config.schedules = {{.name = "day", .start = "0 8 * * *", .end = "0 9 * * *", .max_gpus = 3}};
  std::vector<std::string> shown;
  each_block(config, [&](const std::string& title, const std::vector<BlockKey>& keys) {
    std::string text = title;
    for (const BlockKey& key : keys) {
      if (key.is_set) text += " " + key.name + "=" + toml_value(read_member(key.member));
    }
    shown.push_back(text);
  });
  CHECK(shown == std::vector<std::string>{
                     "tenant name=\"acme\" plan=0 weight=1.0 max_sessions=0 max_connections=0 "
                     "max_messages_per_s=0.0 max_job_rate=0.0 max_queued_minutes=0.0 "
                     "max_running_jobs=0",
                     "pool.schedule name=\"day\" time_zone=\"UTC\" start=\"0 8 * * *\" "
                     "end=\"0 9 * * *\" max_gpus=3"});
}
