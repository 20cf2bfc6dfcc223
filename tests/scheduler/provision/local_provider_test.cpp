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
#include "tests/scheduler/small_pool.h"
#include "tests/temporary_directory.h"

using namespace navtalk;
using namespace std::chrono_literals;
using std::chrono::steady_clock;

namespace {

// What the next workers are told to do; see tests/fakes/worker_program.cpp.
class Script {
 public:
  explicit Script(const char* json) { ::setenv("NAVTALK_FAKE_WORKER", json, 1); }
  ~Script() { ::unsetenv("NAVTALK_FAKE_WORKER"); }
};

const WorkerTokens k_tokens("secret");

Gpu new_row() {
  const std::string id = random_id();
  return {.id = {id}, .name = "navtalk-test-" + id, .host = "here", .device = "cpu"};
}

LocalProviderOptions options() {
  return {.program = NAVTALK_FAKE_WORKER_PROGRAM, .host = "here", .tokens = k_tokens};
}

// The row as the pool would have it after that outcome.
Gpu created(LocalProvider& provider, Gpu gpu) {
  const Outcome outcome = provider.create(gpu, {});
  REQUIRE(std::holds_alternative<Done>(outcome));
  const Instance& instance = *std::get<Done>(outcome).instance;
  gpu.provider_id = instance.provider_id;
  gpu.url = instance.url;
  return gpu;
}

std::optional<Instance> listed(LocalProvider& provider, const std::string& name) {
  const Listing listing = provider.list({});
  REQUIRE(listing.complete);
  for (const Instance& instance : listing.instances) {
    if (instance.name == name) return instance;
  }
  return std::nullopt;
}

// The same of a process that was only just started: for a moment its command line is empty.
std::optional<Instance> appears(LocalProvider& provider, const std::string& name) {
  const auto until = steady_clock::now() + 10s;
  auto instance = listed(provider, name);
  while (!instance && steady_clock::now() < until) instance = listed(provider, name);
  return instance;
}

bool done(const Outcome& outcome) { return std::holds_alternative<Done>(outcome); }

// Waits until the process is gone, reaped or not.
bool ends(const Gpu& gpu) {
  const UniqueFd watched = local::watch(*parse_process_id(gpu.provider_id));
  if (!watched) return true;
  std::size_t which = 0;
  return local::wait_readable({watched.value()}, steady_clock::now() + 20s, {}, which) ==
         local::Waited::ready;
}

}  // namespace

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

TEST_CASE("a worker outlives its gateway, and the next one finds, uses and destroys it") {
  const Gpu gpu = [] {
    LocalProvider first(options());
    return created(first, new_row());
  }();
  LocalProvider second(options());
  const auto instance = listed(second, gpu.name);
  REQUIRE(instance);
  CHECK(instance->provider_id == gpu.provider_id);
  CHECK(instance->url == gpu.url);
  CHECK(done(second.pause(gpu, {})));
  // A create whose outcome was never stored is found by its name.
  Gpu unrecorded = gpu;
  unrecorded.provider_id.clear();
  CHECK(done(second.destroy(unrecorded, {})));
  CHECK(ends(gpu));
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

TEST_CASE("a killed worker is reported at once and listed as failed, with how it ended") {
  std::binary_semaphore told(0);
  std::string crash;
  LocalProviderOptions watching = options();
  watching.on_crash = [&](const std::string& name, const std::string& how) {
    crash = name + " " + how;
    told.release();
  };
  LocalProvider provider(watching);
  const Gpu gpu = created(provider, new_row());
  ::kill(parse_process_id(gpu.provider_id)->pid, SIGKILL);
  REQUIRE(told.try_acquire_for(10s));
  CHECK(crash == gpu.name + " signal 9");
  const auto instance = listed(provider, gpu.name);
  REQUIRE(instance);
  CHECK(instance->status == Instance::Status::failed);
  const Lookup lookup = provider.find(gpu, {});
  REQUIRE(std::holds_alternative<Instance>(lookup));
  CHECK(std::get<Instance>(lookup).status == Instance::Status::failed);
  CHECK_THAT(instance->detail, Catch::Contains("signal 9"));
  CHECK(done(provider.destroy(gpu, {})));
  CHECK_FALSE(listed(provider, gpu.name));
}

TEST_CASE("the device of a worker that ended is free once its backoff is over, and not before") {
  LocalProvider provider(options());
  const Gpu gpu = created(provider, new_row());
  CHECK_FALSE(provider.replaceable(gpu, true));
  const auto killed = steady_clock::now();
  ::kill(parse_process_id(gpu.provider_id)->pid, SIGKILL);
  while (!provider.replaceable(gpu, false) && steady_clock::now() < killed + 20s)
    std::this_thread::sleep_for(5ms);
  CHECK(provider.replaceable(gpu, false));
  CHECK(steady_clock::now() - killed >= local::k_first_backoff);
  const Gpu next = created(provider, new_row());
  CHECK(done(provider.destroy(gpu, {})));
  CHECK(done(provider.destroy(next, {})));
}

TEST_CASE(
    "only a gateway that is alone on its host frees the device of a worker that is not its child") {
  LocalProvider first(options());
  const Gpu gpu = created(first, new_row());
  LocalProvider second(options());
  CHECK_FALSE(second.replaceable(gpu, true));
  ::kill(parse_process_id(gpu.provider_id)->pid, SIGKILL);
  REQUIRE(ends(gpu));
  CHECK(second.replaceable(gpu, true));
  CHECK_FALSE(second.replaceable(gpu, false));
  Gpu unknown = gpu;
  unknown.provider_id.clear();
  CHECK_FALSE(second.replaceable(unknown, true));
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

TEST_CASE("a worker of a dead gateway is outdated when it would be started differently now") {
  LocalProviderOptions before = options();
  before.environment = {"NAVTALK_MODELS_PATH=/models/a"};
  before.owner = tests::dead_process();
  const Gpu gpu = [&] {
    LocalProvider first(before);
    return created(first, new_row());
  }();
  const auto outdated = [&](const LocalProviderOptions& now) {
    LocalProvider provider(now);
    return listed(provider, gpu.name)->outdated;
  };
  before.owner = this_process();
  CHECK(outdated(before).empty());
  LocalProviderOptions now = before;
  now.slots = 3;
  CHECK(outdated(now) == "it was started with --slots 1, now with --slots 3");
  now = before;
  now.arguments = {"--log-level", "debug"};
  CHECK(outdated(now).empty());
  now = before;
  now.environment = {"NAVTALK_MODELS_PATH=/models/b"};
  CHECK(outdated(now) == "it was started without NAVTALK_MODELS_PATH=/models/b");
  now = before;
  now.devices = {"cuda:0"};
  CHECK(outdated(now) == "its device 'cpu' does not belong to this gateway");
  now = before;
  now.program = "/bin/sh";
  CHECK(outdated(now) == "its program was replaced");
  LocalProvider last(before);
  CHECK(done(last.destroy(gpu, {})));
}

TEST_CASE("workers of other living gateways are never outdated") {
  LocalProvider first(options());
  const Gpu gpu = created(first, new_row());
  LocalProviderOptions other = options();
  other.slots = 2;
  LocalProvider second(other);
  CHECK(listed(second, gpu.name)->outdated.empty());
  CHECK(done(first.destroy(gpu, {})));
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
