// What a worker asks of the code that renders. The real one (server/worker/render_engine.h) holds
// models and avatars; a test gives functions of its own. load(), unload(), pause(), wake(), fall_back() and use() run on the work
// loop's thread, prepare_at_hand() and drop() on the one that loads avatars, prepare() on the one that makes what they lack,
// open_live() on any.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "core/base/frame_rate.h"
#include "core/base/progress.h"
#include "gpu/device/memory_budget.h"
#include "gpu/engine/engine_backend.h"
#include "gpu/engine/request_queue.h"
#include "server/worker/job/face_wire.h"
#include "server/worker/live/live_avatar.h"

namespace navtalk::server {

// Called now and then by long work that makes progress.
using Heartbeat = std::function<void()>;

struct AvatarSize {
  int width = 0, height = 0;  // pixels
  FrameRate fps = 25;
  std::uint64_t memory = 0;  // bytes that it takes while it is loaded
  // Bytes of the device's memory: all of its frames, once for all of its sessions; and of one session, the pictures on their way that
  // have the avatar's size, and those that have the size in which they are shown, here the avatar's.
  std::uint64_t device_frames = 0, device_pictures = 0, device_shown = 0;

  // What a session's pictures take that are shown `shown` pixels wide; 0: the avatar's width.
  std::uint64_t pictures_at(int shown) const {
    if (shown <= 0 || width <= 0) return device_pictures + device_shown;
    const auto to = static_cast<std::uint64_t>(shown), from = static_cast<std::uint64_t>(width);
    return device_pictures + device_shown * to / from * to / from;
  }
};

// A device whose memory is reserved before a session or a job is taken.
struct DeviceBudget {
  std::shared_ptr<MemoryBudget> memory{};
  std::function<std::uint64_t()> frames_limit{};           // bytes for the frames of all avatars
  std::function<void(std::uint64_t bytes)> keep_frames{};  // so many stay on the device from now on
  std::function<std::uint64_t()>
      of_process{};  // bytes that a job's process with nets of its own takes
};

struct DeviceUse {
  std::string name{};
  std::uint64_t memory_total = 0, memory_used = 0;  // bytes; on the CPU: this process' share
  std::optional<double> utilisation{};              // 0..1
  std::optional<int> temperature{};                 // degrees Celsius
};

struct Engine {
  std::string device = "cpu";
  std::function<void(const Heartbeat&)> load{};  // weights onto the device
  std::function<void()> unload{};                // and off, the memory given back
  // Moves the weights into host memory instead, the device's memory given back; false: there is no device, and nothing has changed. After
  // an error they are to be unloaded. Empty: never.
  std::function<bool()> pause{};
  // Back onto the device, after pause() returned true. Errors as load(), after which there are no nets.
  std::function<void()> wake{};
  // Puts the nets on the CPU instead, when load() or the engine's warming up threw OutOfMemory: how many pictures a second they
  // draw for one session. Empty: never.
  std::function<double()> fall_back{};
  std::optional<DeviceBudget> budget{};  // none: nothing is reserved (the CPU)
  // Error{usage}, Error{not_found}, Error{invalid}: not a valid avatar id, no such avatar, or a
  // broken one. Any other error is this worker's fault: another may well do it.
  // Long work reports how far it is.
  std::function<AvatarSize(const std::string& avatar, const Progress& progress)> prepare{};
  // The same for an avatar that needs no long work; nullopt where it does, and prepare() is asked next. Empty: always.
  std::function<std::optional<AvatarSize>(const std::string& avatar)> prepare_at_hand{};
  std::function<void(const std::string& avatar)> drop{};  // one that prepare() loaded
  std::function<DeviceUse()> use{};
  // The pictures of one session with an avatar that is prepared. Without this function a worker's
  // sessions have no media. Errors as prepare; Error{usage} for a size that cannot be coded.
  std::function<std::shared_ptr<LiveAvatar>(const std::string& avatar, const LiveRequest&)>
      open_live{};
  // Makes the lips of their pictures with the nets that load() has loaded. On the inference engine's threads.
  std::shared_ptr<EngineBackend> backend{};
  // The model with which `backend` draws faces of jobs, once it is loaded; nullopt, or an empty function: it draws none. On any
  // thread.
  std::function<std::optional<FaceModel>()> face_model{};
  QueueLimits limits{};  // of the engine's batches
  int lanes = 1;         // batches that `backend` makes at the same time
};

}  // namespace navtalk::server
