// A worker with an engine of the test's own, on a thread of its own.
#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <future>
#include <optional>
#include <semaphore>
#include <string>
#include <vector>

#include "core/base/device_lost.h"
#include "core/base/error.h"
#include "core/base/guarded.h"
#include "core/base/out_of_memory.h"
#include "server/worker/worker.h"
#include "tests/server/http/client.h"

namespace navtalk::tests {

using namespace navtalk::server;
using namespace std::chrono_literals;

// What the engine was asked, and what it is told to do.
struct EngineScript {
  std::string device = "cpu";
  std::optional<double> utilisation{};  // of the device
  std::optional<int> temperature{};
  std::binary_semaphore go{0};
  std::atomic<bool> hold_load = false, hold_prepare = false, hold_use = false, fail_load = false,
                    lose_device = false;
  std::atomic<int> loads = 0, unloads = 0;
  std::atomic<std::chrono::milliseconds> load_takes{};
  std::atomic<int> prepare_steps = 0;  // that are reported
  std::atomic<std::chrono::milliseconds> prepare_step_takes{};
  std::atomic<std::uint64_t> avatar_bytes = 0;  // what each takes
  Guarded<std::vector<std::string>> prepared, dropped, at_hand;
  std::optional<DeviceBudget> budget{};  // of the device
  std::uint64_t device_frames = 0, device_pictures = 0, device_shown = 0;
  std::atomic<int> loads_without_memory = 0;  // that fail so
  std::optional<double> cpu_rate{};  // pictures a second on the CPU; none: it has no such nets
  bool moves_weights = false;        // into host memory, by a pause
  std::atomic<int> pauses = 0, wakes = 0;
  std::atomic<bool> fail_pause = false;
  std::atomic<bool> lose_in_pause = false, lose_in_unload = false,
                    lose_in_use = false;      // the device
  std::atomic<int> wakes_without_memory = 0;  // that fail so
};

inline Engine engine_of(EngineScript& script) {
  return {
      .device = script.device,
      .load =
          [&script](const Heartbeat&) {
            if (script.hold_load) script.go.acquire();
            std::this_thread::sleep_for(script.load_takes.load());
            if (script.loads_without_memory > 0 && script.loads_without_memory-- > 0)
              throw OutOfMemory("the device is full");
            if (script.lose_device) throw DeviceLost("the GPU has fallen off the bus");
            if (script.fail_load) throw Error(Code::invalid, "the weights are broken");
            ++script.loads;
          },
      .unload =
          [&script] {
            if (script.lose_in_unload) throw DeviceLost("the GPU has fallen off the bus");
            ++script.unloads;
          },
      .pause =
          [&script] {
            if (script.lose_in_pause) throw DeviceLost("the GPU has fallen off the bus");
            if (script.fail_pause) throw Error(Code::failed, "no page-locked memory");
            if (script.moves_weights) ++script.pauses;
            return script.moves_weights;
          },
      .wake =
          [&script] {
            if (script.wakes_without_memory > 0 && script.wakes_without_memory-- > 0)
              throw OutOfMemory("the device is full");
            ++script.wakes;
          },
      .fall_back =
          script.cpu_rate ? [&script] { return *script.cpu_rate; } : std::function<double()>(),
      .budget = script.budget,
      .prepare =
          [&script](const std::string& avatar, const Progress& progress) {
            for (int i = 0; i < script.prepare_steps; ++i) {
              progress("latents", static_cast<std::size_t>(i) + 1, 250);
              std::this_thread::sleep_for(script.prepare_step_takes.load());
            }
            if (script.hold_prepare) script.go.acquire();
            script.prepared.with([&](auto& ids) { ids.push_back(avatar); });
            if (avatar == "nobody") throw Error(Code::not_found, "/srv/nobody: no such file");
            if (avatar == "broken") throw Error(Code::invalid, "/srv/broken is broken");
            if (avatar == "../x") throw Error(Code::usage, "/srv/../x is not an id");
            if (avatar == "costly") throw Error(Code::failed, "/srv/disk is full");
            if (avatar == "bug") throw std::bad_alloc();
            return AvatarSize{.width = 640,
                              .height = 480,
                              .memory = script.avatar_bytes,
                              .device_frames = script.device_frames,
                              .device_pictures = script.device_pictures,
                              .device_shown = script.device_shown};
          },
      .prepare_at_hand = [&script](const std::string& avatar) -> std::optional<AvatarSize> {
        const bool there = script.at_hand.with(
            [&](const auto& ids) { return std::ranges::find(ids, avatar) != ids.end(); });
        return there ? std::optional(AvatarSize{640, 480, 25, script.avatar_bytes}) : std::nullopt;
      },
      .drop =
          [&script](const std::string& avatar) {
            script.dropped.with([&](auto& ids) { ids.push_back(avatar); });
          },
      .use =
          [&script] {
            if (script.hold_use) script.go.acquire();
            if (script.lose_in_use) throw DeviceLost("the GPU has fallen off the bus");
            return DeviceUse{.name = "test",
                             .memory_total = 100,
                             .memory_used = 40,
                             .utilisation = script.utilisation,
                             .temperature = script.temperature};
          }};
}

class Running {
 public:
  explicit Running(EngineScript& script, WorkerOptions options = {})
      : worker_(with_defaults(std::move(options)), engine_of(script)) {
    result_ = std::async(std::launch::async, [this] { worker_.run(stop_.get_token()); });
  }
  ~Running() {
    stop();
    result_.wait();
  }
  std::string url() const { return worker_.url(); }
  void stop() { stop_.request_stop(); }
  // Throws what run() threw.
  bool ends() {
    if (result_.wait_for(60s) != std::future_status::ready) return false;
    std::future<void> over = std::exchange(result_, std::async(std::launch::deferred, [] {}));
    over.get();
    return true;
  }
  bool becomes(const std::string& state) {
    return eventually([&] { return ask("GET", url() + "/healthz").body.at("state") == state; });
  }
  int sessions() { return ask("GET", url() + "/healthz").body.at("sessions"); }

 private:
  static WorkerOptions with_defaults(WorkerOptions options) {
    options.avatar = "ada";
    return options;
  }
  std::stop_source stop_;
  Worker worker_;
  std::future<void> result_;
};

inline std::string session(const std::string& lease, int epoch, const std::string& more = "") {
  return "/v1/session?lease=" + lease + "&epoch=" + std::to_string(epoch) + more;
}

}  // namespace navtalk::tests
