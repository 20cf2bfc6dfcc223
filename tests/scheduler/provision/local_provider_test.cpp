// The local provider with real child processes: the fake worker of tests/fakes/.
#include "scheduler/provision/local/local_provider.h"

#include <sys/resource.h>
#include <sys/socket.h>

#include <catch2/catch.hpp>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <semaphore>
#include <thread>

#include "core/base/error.h"
#include "scheduler/health/worker_client.h"
#include "tests/scheduler/provision/local_workers.h"
#include "tests/scheduler/small_pool.h"
#include "tests/temporary_directory.h"

using namespace navtalk;
using namespace std::chrono_literals;
using namespace local_workers;

TEST_CASE("a created worker answers, is listed by its name, and is gone when destroyed") {
  LocalProvider provider(options());
  const Gpu gpu = created(provider, new_row());
  CHECK(std::holds_alternative<WorkerHealth>(WorkerClient(k_tokens.of(gpu)).health(gpu.url)));
  const auto instance = listed(provider, gpu.name);
  REQUIRE(instance);
  CHECK(instance->provider_id == gpu.provider_id);
  CHECK(instance->url == gpu.url);
  CHECK(instance->status == Instance::Status::running);
  const Lookup lookup = provider.find(gpu, {});
  REQUIRE(std::holds_alternative<Instance>(lookup));
  CHECK(std::get<Instance>(lookup).url == gpu.url);
  CHECK(done(provider.destroy(gpu, {})));
  CHECK_FALSE(listed(provider, gpu.name));
  CHECK(std::holds_alternative<NotFound>(provider.find(gpu, {})));
  CHECK(done(provider.destroy(gpu, {})));  // what is gone is destroyed
}

TEST_CASE("a worker takes its own token, not the pool's secret and not another worker's") {
  LocalProvider provider(options());
  const Gpu gpu = created(provider, new_row()), other = created(provider, new_row());
  for (const std::string& wrong : {std::string("secret"), k_tokens.of(other), std::string()}) {
    const WorkerAnswer answer = WorkerClient(wrong).health(gpu.url);
    REQUIRE(std::holds_alternative<WorkerFault>(answer));
    CHECK(std::get<WorkerFault>(answer).kind == WorkerFault::Kind::denied);
  }
  provider.destroy(gpu, {});
  provider.destroy(other, {});
}

TEST_CASE("a paused worker is listed as stopped until it is woken") {
  LocalProvider provider(options());
  const Gpu gpu = created(provider, new_row());
  CHECK(done(provider.pause(gpu, {})));
  CHECK(listed(provider, gpu.name)->status == Instance::Status::stopped);
  CHECK(done(provider.wake(gpu, {})));
  CHECK(listed(provider, gpu.name)->status == Instance::Status::running);
  CHECK(done(provider.destroy(gpu, {})));
}

// UBSan, which comes with ASan here, needs descriptors itself to look at an object's type.
#ifndef __SANITIZE_ADDRESS__
TEST_CASE("without descriptors no worker runs unnoticed, and none is taken for dead") {
  LocalProvider provider(options());
  const Gpu gpu = created(provider, new_row());
  const Gpu refused = new_row();
  rlimit limit = {};
  REQUIRE(::getrlimit(RLIMIT_NOFILE, &limit) == 0);
  const rlimit narrow = {std::min<rlim_t>(limit.rlim_cur, 256), limit.rlim_max};
  REQUIRE(::setrlimit(RLIMIT_NOFILE, &narrow) == 0);
  std::vector<UniqueFd> taken;
  for (int fd = ::dup(0); fd >= 0; fd = ::dup(0)) taken.emplace_back(fd);
  REQUIRE(taken.size() > 4);
  CHECK_FALSE(provider.list({}).complete);
  CHECK_THROWS_AS(local::watch(*parse_process_id(gpu.provider_id)), Error);
  taken.resize(taken.size() - 4);  // two pipes, and nothing to watch the child with
  const Outcome outcome = provider.create(refused, {});
  taken.clear();
  REQUIRE(::setrlimit(RLIMIT_NOFILE, &limit) == 0);
  REQUIRE(std::holds_alternative<Failure>(outcome));
  CHECK_THAT(std::get<Failure>(outcome).message, Catch::Contains("Too many open files"));
  CHECK_FALSE(listed(provider, refused.name));
  CHECK(done(provider.destroy(gpu, {})));
}
#endif

TEST_CASE(
    "a worker that cannot start is a failure with its last log line, and its device backs off") {
  std::binary_semaphore crashed(0);
  LocalProviderOptions told = options();
  told.on_crash = [&](const std::string&, const std::string&) { crashed.release(); };
  LocalProvider provider(told);
  const Script script(R"({"start_exit": 3})");
  const Outcome outcome = provider.create(new_row(), {});
  REQUIRE(std::holds_alternative<Failure>(outcome));
  CHECK_THAT(std::get<Failure>(outcome).message,
             Catch::Contains("exit status 3: fake worker: the script says that it cannot start"));
  REQUIRE(crashed.try_acquire_for(std::chrono::seconds(20)));
  const Outcome next = provider.create(new_row(), {});
  REQUIRE(std::holds_alternative<NoCapacity>(next));
  CHECK(std::get<NoCapacity>(next).retry_after > Duration{});
  CHECK_THAT(std::get<NoCapacity>(next).message, Catch::Contains("exit status 3"));
}

TEST_CASE("a worker that does not print its address in time is ended") {
  LocalProviderOptions impatient = options();
  impatient.address_timeout = 300ms;
  LocalProvider provider(impatient);
  const Script script(R"({"no_address": true})");
  const Gpu gpu = new_row();
  CHECK(std::holds_alternative<Failure>(provider.create(gpu, {})));
  CHECK_FALSE(listed(provider, gpu.name));
}

TEST_CASE("a stop during a start leaves the worker to be found by its name") {
  LocalProvider provider(options());
  Gpu gpu = new_row();
  std::stop_source stop;
  stop.request_stop();
  {
    const Script script(R"({"no_address": true})");
    CHECK(std::holds_alternative<UnknownOutcome>(provider.create(gpu, stop.get_token())));
  }
  const auto instance = appears(provider, gpu.name);
  REQUIRE(instance);
  gpu.provider_id = instance->provider_id;
  CHECK(done(provider.destroy(gpu, {})));
  CHECK(ends(gpu));
}

TEST_CASE("a worker's log lines are forwarded as messages, not as JSON within text") {
  const tests::TemporaryDirectory folder;
  LocalProviderOptions logging = options();
  logging.program = folder / "worker";
  std::ofstream(logging.program) << "#!/bin/sh\n"
                                    "echo '{\"time\":\"now\",\"level\":\"error\",\"message\":\"no "
                                    "weights\",\"file\":\"unet\"}' >&2\n"
                                    "exit 3\n";
  std::filesystem::permissions(logging.program, std::filesystem::perms::owner_all);
  LocalProvider provider(logging);
  const Outcome outcome = provider.create(new_row(), {});
  REQUIRE(std::holds_alternative<Failure>(outcome));
  CHECK(std::get<Failure>(outcome).message ==
        "the worker on cpu ended at its start with exit status 3: no weights file=unet");
}

TEST_CASE("of a line without an end a worker's log keeps the beginning, once") {
  const tests::TemporaryDirectory folder;
  LocalProviderOptions logging = options();
  logging.program = folder / "worker";
  std::ofstream(logging.program) << "#!/bin/sh\n"
                                    "printf 'no such avatar: ' >&2\n"
                                    "head -c 60000 /dev/zero | tr '\\0' x >&2\n"
                                    "echo >&2\n"
                                    "exit 3\n";
  std::filesystem::permissions(logging.program, std::filesystem::perms::owner_all);
  LocalProvider provider(logging);
  const Outcome outcome = provider.create(new_row(), {});
  REQUIRE(std::holds_alternative<Failure>(outcome));
  const std::string& message = std::get<Failure>(outcome).message;
  CHECK_THAT(message, Catch::Contains("exit status 3: no such avatar: xxx"));
  CHECK_THAT(message, Catch::EndsWith("x... (too long)"));
  CHECK(message.size() < 2200);
}

TEST_CASE("a worker that ignores SIGTERM is killed after the timeout") {
  LocalProviderOptions impatient = options();
  impatient.stop_timeout = 200ms;
  LocalProvider provider(impatient);
  const Script script(R"({"ignore_term": true})");
  const Gpu gpu = created(provider, new_row());
  CHECK(done(provider.destroy(gpu, {})));
  CHECK(ends(gpu));
}

TEST_CASE("a worker that no gateway contacts exits") {
  LocalProviderOptions lonely = options();
  lonely.gateway_timeout = 1s;
  LocalProvider provider(lonely);
  const Gpu gpu = created(provider, new_row());
  CHECK(ends(gpu));
}

TEST_CASE("a process that reuses the process id of an old worker is left alone") {
  LocalProvider provider(options());
  const Gpu gpu = created(provider, new_row());
  Gpu old = gpu;
  ProcessId id = *parse_process_id(gpu.provider_id);
  id.start_ticks -= 1;
  old.provider_id = text(id);
  CHECK(std::holds_alternative<Failure>(provider.pause(old, {})));
  CHECK(done(provider.destroy(old, {})));
  CHECK(listed(provider, gpu.name));
  CHECK(done(provider.destroy(gpu, {})));
}

TEST_CASE("a worker holds none of its gateway's sockets") {
  const UniqueFd careless(::socket(AF_INET, SOCK_STREAM, 0));  // without close-on-exec
  LocalProvider provider(options());
  const Gpu gpu = created(provider, new_row());
  const auto target = [](pid_t pid, int fd) {
    std::error_code missing;
    return std::filesystem::read_symlink(
        "/proc/" + std::to_string(pid) + "/fd/" + std::to_string(fd), missing);
  };
  const auto ours = target(::getpid(), careless.value());
  const pid_t worker = parse_process_id(gpu.provider_id)->pid;
  for (int fd = 0; fd < 64; ++fd) CHECK(target(worker, fd) != ours);
  CHECK(done(provider.destroy(gpu, {})));
}

TEST_CASE("there is room for one worker on each device that no row uses") {
  LocalProviderOptions two = options();
  two.devices = {"cuda:0", "cuda:1"};
  const LocalProvider provider(two);
  CHECK(provider.creatable({}) == 2);
  Gpu gpu = new_row();
  gpu.device = "cuda:1";
  CHECK(provider.creatable({gpu}) == 1);
  gpu.host = "elsewhere";
  CHECK(provider.creatable({gpu}) == 2);
}

TEST_CASE("a worker gets none of the store's URL, the cloud's key and the operator's") {
  ::setenv("PGPASSWORD", "not-a-password", 1);
  ::setenv("NAVTALK_STORE_URL", "sqlite:/nonexistent", 1);
  ::setenv("NAVTALK_OPERATOR_KEY", "not-a-key", 1);
  LocalProvider provider(options());
  const Gpu gpu = created(provider, new_row());
  ::unsetenv("PGPASSWORD");
  ::unsetenv("NAVTALK_STORE_URL");
  ::unsetenv("NAVTALK_OPERATOR_KEY");
  for (const std::string& variable : local::environment_of(*parse_process_id(gpu.provider_id))) {
    CHECK_FALSE(variable.starts_with("PG"));
    CHECK_FALSE(variable.starts_with("NAVTALK_STORE_URL"));
    CHECK_FALSE(variable.starts_with("NAVTALK_OPERATOR_KEY"));
  }
  CHECK(done(provider.destroy(gpu, {})));
}
