// The models of one worker: loaded, taken off the device and put back, and the avatars that are
// ready with them. The work itself runs on other threads, so that neither loading an avatar nor opening a session holds
// up the pictures of others; everything here is of the I/O thread, except sample_device().
#pragma once

#include <atomic>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/steady_timer.hpp>
#include <chrono>
#include <cstdint>
#include <exception>
#include <functional>
#include <list>
#include <optional>
#include <string>

#include "core/base/guarded.h"
#include "core/base/out_of_memory.h"
#include "gpu/engine/inference_engine.h"
#include "server/http/blocking_threads.h"
#include "server/worker/engine.h"
#include "server/worker/loaded_avatars.h"
#include "server/worker/phase.h"
#include "server/worker/work_loop.h"

namespace navtalk::server {

struct ModelOptions {
  std::string preload{};  // the avatar that is loaded with the models; empty: none
  std::chrono::milliseconds stuck_after{5'000};  // without a heartbeat of the work loop
  AvatarBound avatars{};
};

class ModelLifecycle {
 public:
  template <class T>
  using Awaitable = boost::asio::awaitable<T>;

  struct Threads {
    WorkLoop& loop;  // changes the nets
    // One each, behind everything else that needs a core. `loader`: loads avatars that lack nothing, and drops avatars.
    // `maker`: makes what others lack, which may take minutes.
    BlockingThreads &loader, &maker;
    BlockingThreads& encoders;   // opens what codes a session's pictures
    InferenceEngine& inference;  // uses the nets
  };
  ModelLifecycle(const boost::asio::any_io_executor& executor, Engine engine, Threads threads,
                 ModelOptions options);
  ModelLifecycle(const ModelLifecycle&) = delete;
  ModelLifecycle& operator=(const ModelLifecycle&) = delete;

  // The first load. A failure is start_problem().
  Awaitable<void> start();
  // From ready to paused, or failed.
  Awaitable<void> pause();
  // From paused to ready, or failed; nothing in other phases.
  Awaitable<void> wake();
  // From ready to ready, or failed: the device had no memory for a single picture. `sessions_over`: until none is there.
  Awaitable<void> reload(std::function<Awaitable<void>()> sessions_over);
  // Until no start, pause, wake or reload is under way.
  Awaitable<void> settled();
  // How much of the avatar is made, of how much; 0 of 0 while another one is loaded first.
  using Loading = std::function<void(std::size_t done, std::size_t total)>;
  // Loads the avatar if it is not loaded. `loading` is called now and then meanwhile, on the I/O thread.
  // Errors as Engine::prepare.
  Awaitable<HeldAvatar> avatar(std::string id, Loading loading = {});
  // For a session with an avatar that it holds; nullptr when the engine has no live media.
  Awaitable<std::shared_ptr<LiveAvatar>> open_live(std::string id, LiveRequest request);
  // Drops avatars that nobody holds any more, beyond the bound. While the I/O loop runs.
  void drop_surplus();

  Phase phase() const { return phase_; }
  // In phase failed: why.
  const std::string& problem() const { return problem_; }
  const std::exception_ptr& start_problem() const { return start_problem_; }
  // A start, pause, wake, reload or sample found no device any more. Any thread.
  bool device_lost() const { return device_lost_; }
  bool stuck() const { return since_heartbeat() > options_.stuck_after; }
  // Of the work loop or the inference engine, whichever was later.
  WorkLoop::Clock::duration since_heartbeat() const;
  std::string device() const { return fell_back_ ? "cpu" : engine_.device; }
  // Times that the nets came onto the CPU because the device had no memory.
  std::uint64_t fallbacks() const { return fallbacks_; }
  const LoadedAvatars& avatars() const { return avatars_; }

  // Seconds that the last pause took until the weights were off the device, and the last wake until sessions could begin; nullopt before the first
  // that worked.
  std::optional<double> pause_took_s() const { return pause_took_s_; }
  std::optional<double> wake_took_s() const { return wake_took_s_; }

  // Asks the engine what the device is doing; for the work loop's thread.
  void sample_device();
  DeviceUse device_use() const;  // of the last sample

 private:
  struct Waiting {
    const std::string& id;
    const Loading& loading;
  };

  // In the list for as long as it lives.
  struct WaitingPlace {
    WaitingPlace(std::list<Waiting>& all, const Waiting& one)
        : all_(all), here_(all.insert(all.end(), one)) {}
    ~WaitingPlace() { all_.erase(here_); }
    WaitingPlace(const WaitingPlace&) = delete;
    WaitingPlace& operator=(const WaitingPlace&) = delete;

   private:
    std::list<Waiting>& all_;
    std::list<Waiting>::iterator here_;
  };

  Awaitable<double> load();
  // On the work loop. True: onto the CPU.
  bool load_nets();
  void fall_back(const OutOfMemory& problem);
  // On the work loop.
  void leave_device();
  void fail(const std::exception& error);
  // What prepare() returns.
  Awaitable<AvatarSize> made(const std::string& id, const Loading& loading);
  void tell_waiting(const std::string& id, std::size_t done, std::size_t total);
  void change_to(Phase phase);

  const boost::asio::any_io_executor executor_;
  const Engine engine_;
  const Threads threads_;
  const ModelOptions options_;
  Phase phase_ = Phase::starting;
  boost::asio::steady_timer phase_changed_;  // never expires: cancelling it wakes all who wait
  std::string problem_{};
  std::atomic<bool> device_lost_ = false;
  std::exception_ptr start_problem_{};
  LoadedAvatars avatars_;
  std::list<Waiting> waiting_{};  // for the maker
  std::uint64_t dropped_ = 0;     // how many, ever
  bool fell_back_ = false;        // the nets are on the CPU
  bool in_host_memory_ = false;   // the weights; of the work loop
  std::optional<double> pause_took_s_{}, wake_took_s_{};
  std::uint64_t fallbacks_ = 0;
  HeldAvatar preloaded_{};  // of sessions that name none: it stays
  Guarded<DeviceUse> use_;
};

}  // namespace navtalk::server
