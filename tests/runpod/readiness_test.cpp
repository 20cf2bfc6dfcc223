// From the order to a worker that is proven from outside, with workers behind the fake's pods.
#include <catch2/catch.hpp>
#include <csignal>
#include <nlohmann/json.hpp>
#include <thread>

#include "runpod/api/api.h"
#include "scheduler/health/worker_client.h"
#include "tests/runpod/scene.h"
#include "tests/scheduler/health/handshake.h"

using namespace navtalk;
using namespace std::chrono_literals;
using tests::is;
using tests::row;
using tests::RunpodServer;
using tests::RunpodServerOptions;

namespace {

using tests::k_never;
using Workers = RunpodServerOptions::Workers;
using Kind = WorkerFault::Kind;

struct Place {
  RunpodServer server;
  runpod::RunpodProvider provider{tests::quick_options(server), runpod::ApiKey("not-a-key")};
  WorkerClient worker{tests::k_tokens.of_worker(row("a").name)};

  explicit Place(const RunpodServerOptions& options = {.workers = Workers::fake})
      : server(options) {}

  // Whether a WebSocket reaches the worker of the pod "a".
  static std::optional<WorkerFault> handshake(const Instance& pod) {
    return tests::handshake(pod.url, tests::k_tokens.of_worker(row("a").name));
  }
  Instance made(const std::string& name) {
    return *is<Done>(provider.create(row(name), k_never)).instance;
  }
};

std::optional<Kind> fault_kind(const WorkerAnswer& answer) {
  const auto* fault = std::get_if<WorkerFault>(&answer);
  return fault == nullptr ? std::nullopt : std::optional(fault->kind);
}

// Asks until the worker answers, for at most ten seconds.
bool answers(WorkerClient& worker, const std::string& url) {
  const auto end = std::chrono::steady_clock::now() + 10s;
  while (std::chrono::steady_clock::now() < end) {
    if (!fault_kind(worker.health(url))) return true;
    std::this_thread::yield();
  }
  return false;
}

}  // namespace

TEST_CASE("RUNNING is not ready: a pod answers 502 until its worker listens") {
  Place place;
  place.server.life({.starting_after = 10s, .running_after = 20s, .healthy_after = 60s});
  const Instance pod = place.made("a");
  CHECK(fault_kind(place.worker.health(pod.url)) == Kind::not_worker);
  place.server.advance(21s);
  CHECK(place.provider.list(k_never).instances.at(0).status == Instance::Status::running);
  CHECK(fault_kind(place.worker.health(pod.url)) == Kind::not_worker);
  CHECK(Place::handshake(pod)->kind == Kind::not_worker);
  place.server.advance(60s);
  const WorkerAnswer answer = place.worker.health(pod.url);
  REQUIRE(std::holds_alternative<WorkerHealth>(answer));
  CHECK_FALSE(why_unready(std::get<WorkerHealth>(answer), true));
  CHECK(std::get<WorkerHealth>(answer).slots == 2);
  CHECK_FALSE(Place::handshake(pod));
}

TEST_CASE("a pod that came without its GPU is told by its worker's own report") {
  Place place;
  place.server.life({.gpu = false});
  const Instance pod = place.made("a");
  const WorkerAnswer answer = place.worker.health(pod.url);
  REQUIRE(std::holds_alternative<WorkerHealth>(answer));
  CHECK(why_unready(std::get<WorkerHealth>(answer), true));
}

TEST_CASE("a pod's worker takes its own token, not the pool's secret and not another pod's") {
  Place place;
  const Instance pod = place.made("a"), other = place.made("b");
  CHECK_FALSE(fault_kind(place.worker.health(pod.url)));
  CHECK(fault_kind(place.worker.health(other.url)) == Kind::denied);
  CHECK(fault_kind(WorkerClient("secret").health(pod.url)) == Kind::denied);
}

TEST_CASE("a pod keeps its URL over stop and start, whatever becomes of its ports") {
  Place place;
  place.server.life({.stale_ports = 90s});
  const Instance pod = place.made("a");
  const Gpu gpu = row("a", pod.provider_id);
  const auto port = [&] {
    const auto pods = place.server.pods();
    const auto now = std::chrono::milliseconds(place.server.now());
    return pods.at(0).shown(now).at("runtime").at("ports").at(1).at("public").get<int>();
  };
  const int before = port();
  is<Done>(place.provider.pause(gpu, k_never));
  CHECK(fault_kind(place.worker.health(pod.url)) == Kind::not_worker);
  CHECK(is<Done>(place.provider.wake(gpu, k_never)).instance->url == pod.url);
  CHECK(port() == before);  // shown, but stale
  CHECK_FALSE(fault_kind(place.worker.health(pod.url)));
  place.server.advance(91s);
  CHECK(port() != before);
}

TEST_CASE("a pod may be a process, which ends with it") {
  Place place(
      {.workers = Workers::command, .command = {NAVTALK_FAKE_WORKER, "--listen", "127.0.0.1:0"}});
  const Instance pod = place.made("a");
  REQUIRE(answers(place.worker, pod.url));
  CHECK_FALSE(Place::handshake(pod));
  const pid_t process = place.server.process(pod.provider_id);
  REQUIRE(process > 0);
  is<Done>(place.provider.destroy(row("a", pod.provider_id), k_never));
  CHECK(fault_kind(place.worker.health(pod.url)) == Kind::not_worker);
  while (::kill(process, 0) == 0) std::this_thread::yield();
}
