// The renderer processes of one worker: one for each job that it renders, and one that has ended its job and
// keeps its model for the next. The memory that a job needs at its peak, of the machine and of the device, is reserved before the job is taken, and
// a renderer that exceeds what it may have is ended. Where the worker's nets draw faces for jobs, the processes ask for
// them, and need no such nets of their own. Of the I/O thread.
#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/steady_timer.hpp>
#include <cstdint>
#include <functional>
#include <list>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "server/worker/device/device_room.h"
#include "server/worker/job/memory_plan.h"
#include "server/worker/job/renderer_process.h"

namespace navtalk::server {

struct RendererOptions {
  // The program and its arguments that render jobs; empty: this worker takes none.
  std::vector<std::string> command{};
  // Bytes that a renderer needs, until one has shown it: with its own nets, and with the worker's.
  std::uint64_t first_peak = 0, first_sharing_peak = 0;
};

class Renderers {
 public:
  // What the worker's nets draw for jobs; nullopt: nothing now.
  using Offer = std::function<std::optional<FaceModel>()>;

  // `engine` outlives the processes: end_all().
  // `room`: of the device, for processes with nets of their own. `reapers`: wait for processes that end.
  Renderers(const boost::asio::any_io_executor& executor, BlockingThreads& reapers,
            RendererOptions options, DeviceRoom& room, InferenceEngine& engine, Offer offer);
  Renderers(const Renderers&) = delete;
  Renderers& operator=(const Renderers&) = delete;

  // The memory of one job. The renderers outlive it.
  class Place {
   public:
    Place(Renderers& all, bool shares, MemoryReservation device);
    ~Place();
    Place(const Place&) = delete;
    Place& operator=(const Place&) = delete;

    // Error{failed} when no process can be started.
    RendererProcess& start();
    RendererProcess* process() { return process_.get(); }
    // It has ended its job, `well` with a video, and may have the next.
    void give_back(bool well);
    // It has not, and is ended.
    void drop() {
      process_.reset();
      device_ = {};
    }
    // The CPU renders its job, for lack of the device's memory.
    void note_on_cpu() { ++all_.on_cpu_; }
    // Bytes that its process has now.
    std::uint64_t resident() const { return process_ ? process_->resident() : 0; }
    // Ends a process that has more than it may have. False: there is none.
    bool look(const std::optional<MemoryRoom>& room);
    // What it may still take, in bytes.
    std::uint64_t missing() const { return plan().missing(resident()); }

   private:
    // A process may turn out to need its own nets.
    bool shares() const { return process_ ? process_->shares_nets() : shares_; }
    MemoryPlan& plan() const { return all_.plan(shares()); }

    Renderers& all_;
    const bool shares_;  // is to start without nets
    std::unique_ptr<RendererProcess> process_{};
    MemoryReservation device_{};  // for the process that is to start
    std::uint64_t most_ = 0;      // bytes that it had
  };

  bool available() const { return !options_.command.empty(); }
  // nullptr: the memory of another job would exceed what the machine has.
  std::shared_ptr<Place> reserve();
  // What is reserved for a job, as text.
  std::string needs() const;
  // Jobs that the CPU rendered for lack of the device's memory.
  std::uint64_t on_cpu() const { return on_cpu_; }
  // Gives back the memory of one that waits; a little later, when its process has ended.
  void drop_idle() { idle_.reset(); }
  // Ends all processes; no other is started.
  void end_all();

 private:
  bool sharing() const { return !refused_ && offer_ && offer_().has_value(); }
  std::optional<FaceService> faces();
  const MemoryPlan& plan(bool sharing) const { return sharing ? sharing_plan_ : own_plan_; }
  MemoryPlan& plan(bool sharing) { return sharing ? sharing_plan_ : own_plan_; }
  bool fits() const;
  std::shared_ptr<Place> refuse() const;
  // Of the device, for a process with nets of its own; nullopt: there is no room.
  std::optional<MemoryReservation> reserve_device();
  void watch();
  void look();

  const boost::asio::any_io_executor executor_;
  BlockingThreads& reapers_;
  const RendererOptions options_;
  DeviceRoom& room_;
  InferenceEngine& engine_;
  const Offer offer_;
  MemoryPlan own_plan_, sharing_plan_;
  std::uint64_t on_cpu_ = 0;
  bool refused_ = false;                 // by a process, whose files are other ones
  std::uint64_t last_job_ = 1ULL << 63;  // numbers of sessions are below
  std::list<Place*> places_{};
  boost::asio::steady_timer timer_;
  bool watching_ = false;
  std::unique_ptr<RendererProcess> idle_{};
};

}  // namespace navtalk::server
