// Workers that a local provider starts, as its tests need them: the program of tests/fakes/worker_program.cpp.
#pragma once

#include <catch2/catch.hpp>
#include <chrono>
#include <cstdlib>
#include <optional>
#include <string>

#include "scheduler/provision/local/local_provider.h"
#include "tests/scheduler/small_pool.h"

namespace navtalk::local_workers {

using namespace std::chrono_literals;
using std::chrono::steady_clock;

// What the next workers are told to do; see tests/fakes/worker_program.cpp.
class Script {
 public:
  explicit Script(const char* json) { ::setenv("NAVTALK_FAKE_WORKER", json, 1); }
  ~Script() { ::unsetenv("NAVTALK_FAKE_WORKER"); }
};

inline const WorkerTokens k_tokens("secret");

inline Gpu new_row() {
  const std::string id = random_id();
  return {.id = {id}, .name = "navtalk-test-" + id, .host = "here", .device = "cpu"};
}

inline LocalProviderOptions options() {
  return {.program = NAVTALK_FAKE_WORKER_PROGRAM, .host = "here", .tokens = k_tokens};
}

// The row as the pool would have it after that outcome.
inline Gpu created(LocalProvider& provider, Gpu gpu) {
  const Outcome outcome = provider.create(gpu, {});
  REQUIRE(std::holds_alternative<Done>(outcome));
  const Instance& instance = *std::get<Done>(outcome).instance;
  gpu.provider_id = instance.provider_id;
  gpu.url = instance.url;
  return gpu;
}

inline std::optional<Instance> listed(LocalProvider& provider, const std::string& name) {
  const Listing listing = provider.list({});
  REQUIRE(listing.complete);
  for (const Instance& instance : listing.instances) {
    if (instance.name == name) return instance;
  }
  return std::nullopt;
}

// The same of a process that was only just started: for a moment its command line is empty.
inline std::optional<Instance> appears(LocalProvider& provider, const std::string& name) {
  const auto until = steady_clock::now() + 60s;
  auto instance = listed(provider, name);
  while (!instance && steady_clock::now() < until) instance = listed(provider, name);
  return instance;
}

inline bool done(const Outcome& outcome) { return std::holds_alternative<Done>(outcome); }

// Waits until the process is gone, reaped or not.
inline bool ends(const Gpu& gpu) {
  const UniqueFd watched = local::watch(*parse_process_id(gpu.provider_id));
  if (!watched) return true;
  std::size_t which = 0;
  return local::wait_readable({watched.value()}, steady_clock::now() + 60s, {}, which) ==
         local::Waited::ready;
}

}  // namespace navtalk::local_workers
