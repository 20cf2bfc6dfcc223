// A provider against the fake Runpod, with waits short enough for tests.
#pragma once

#include <catch2/catch.hpp>
#include <chrono>
#include <stop_token>
#include <string>

#include "runpod/runpod_provider.h"
#include "tests/fakes/runpod/runpod_server.h"

namespace navtalk::tests {

// For calls that nobody interrupts.
inline const std::stop_token k_never{};
inline const WorkerTokens k_tokens("secret");

inline runpod::ApiOptions quick_api(const RunpodServer& server) {
  using namespace std::chrono_literals;
  return {.url = server.api_url(),
          .timeout = 5s,
          .slow_timeout = 5s,
          .lookup_timeout = 5s,
          .retry = {.first = 1ms, .most = 5ms, .tries = 5, .patience = 3s}};
}

inline runpod::ProviderOptions quick_options(const RunpodServer& server) {
  using namespace std::chrono_literals;
  runpod::ProviderOptions options{.api = quick_api(server), .proxy_url = server.proxy_url()};
  options.worker_tokens = k_tokens;
  options.pool = "test";
  options.pool_id = "0123abcd";
  options.preferences = {{"RTX 4090", "H100"}, {"SECURE"}, {"EU-RO-1", "US-KS-2"}};
  options.image = "registry.invalid/navtalk@sha256:0";
  options.cooldown = 60s;
  return options;
}

inline Gpu row(const std::string& name, const std::string& pod = "") {
  Gpu gpu{.id = GpuId{"gpu-" + name}, .name = "navtalk-test-0123abcd-" + name};
  gpu.source = Source::cloud;
  gpu.provider_id = pod;
  gpu.slots = 2;
  gpu.created_at = std::chrono::time_point_cast<Duration>(std::chrono::system_clock::now());
  return gpu;
}

template <class T>
const T& is(const Outcome& outcome) {
  if (const auto* got = std::get_if<T>(&outcome)) return *got;
  const char* const names[] = {"Done", "NoCapacity", "Refused", "Failure", "UnknownOutcome"};
  std::string text = names[outcome.index()];
  std::visit(
      [&](const auto& other) {
        if constexpr (requires { other.message; }) text += ": " + other.message;
      },
      outcome);
  FAIL("the outcome is " << text);
  throw 0;  // not reached
}

struct Scene {
  RunpodServer server{};
  runpod::RunpodProvider provider{quick_options(server), runpod::ApiKey("not-a-key")};
  std::stop_source stop{};

  Outcome create(const std::string& name) { return provider.create(row(name), stop.get_token()); }
  // The id of a pod that was made for `name`.
  std::string made(const std::string& name) { return is<Done>(create(name)).instance->provider_id; }
};

}  // namespace navtalk::tests
