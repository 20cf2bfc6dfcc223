// The threads that use a device's nets, and the batches that they make of what all sessions ask for. One engine per
// device; its functions may be called from any thread.
//
//                               ┌─ a batch ──► lane: EngineBackend::make() ──► done(answer)
//   submit() ──► RequestQueue ──┤
//                               └─ a batch ──► lane: EngineBackend::make() ──► done(answer)
//
// Offline renderings ask with submit_offline(): their faces have what sessions leave of the lanes (offline_room.h), and are
// drawn in one batch with live pictures where a batch holds several.
// Each lane is a thread that takes the next batch as soon as it is free. Pictures of one session that different lanes
// draw may be done in another order than they were asked for.
// A batch for which the device has no memory is made again in halves, in the same order, and batches stay that small for a while
// (batch_bound.h); a single request for which it has none fails.
// Every request is answered exactly once. What is finished of a picture besides the nets (FinishPicture) runs where
// the answer is used, so that the device goes on with the next batch.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <exception>
#include <functional>
#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <stop_token>
#include <thread>
#include <vector>

#include "gpu/engine/batch_bound.h"
#include "gpu/engine/batch_times.h"
#include "gpu/engine/engine_backend.h"
#include "gpu/engine/offline_room.h"
#include "gpu/engine/request_queue.h"

namespace navtalk {

// Since the engine began.
struct EngineCounters {
  std::uint64_t batches = 0;
  std::uint64_t made = 0, late = 0, cancelled = 0, crowded = 0, failed = 0;  // requests, by outcome
  std::uint64_t offline = 0;        // faces made for jobs, which count nowhere else
  std::uint64_t out_of_memory = 0;  // batches for which the device had no memory
  std::uint64_t halved = 0;         // times that batches became smaller for it
  std::size_t largest_batch = 0;    // now
  std::uint64_t exhausted = 0;      // requests that failed since there was no memory even for one
  std::uint64_t lost = 0;           // batches that failed since the device is lost
  std::chrono::microseconds queued{}, features{}, drawing{};  // of the requests; of the batches
};

class InferenceEngine {
 public:
  using Clock = PictureRequest::Clock;
  enum class Outcome {
    made,
    late,       // its deadline was over before a batch had room
    cancelled,  // cancel(), or the end of the engine
    crowded,    // its session has too many requests that wait
    failed      // the backend threw
  };
  struct Answer {
    Outcome outcome = Outcome::made;
    FinishPicture picture{};                        // made
    std::exception_ptr problem{};                   // failed
    std::chrono::microseconds queued{}, working{};  // before its batch began; of the batch
  };
  // Short, and throws nothing. On the thread of a lane; on that of submit(), cancel() or the destructor for requests
  // that no batch has.
  using Done = std::function<void(Answer)>;

  // `lanes`: batches at the same time, at least 1.
  explicit InferenceEngine(std::shared_ptr<EngineBackend> backend, QueueLimits limits = {},
                           int lanes = 1);
  // Waits for the batches that run; what waits is cancelled.
  ~InferenceEngine();
  InferenceEngine(const InferenceEngine&) = delete;
  InferenceEngine& operator=(const InferenceEngine&) = delete;

  void submit(PictureRequest request, Done done);
  // `request.offline` is there. Numbers of jobs are those of no sessions. Never late.
  void submit_offline(PictureRequest request, Done done);
  // All requests of the session or job, also those of batches that run: they are answered as cancelled.
  void cancel(std::uint64_t session);
  // Until no batch runs and no request waits: the nets may be changed then, if nobody submits meanwhile.
  void wait_idle();

  // Has every lane warm up, all at the same time and before their next batches, and waits for them. Batches for which the
  // device has no memory are never made then. Throws what the backend threw on the first of them, for want of memory only where
  // there is none for a single face; nothing when the engine ends meanwhile.
  void warm_up();

  // Since the lane turned that did so longest ago: each does four times a second while it is idle, and between two
  // batches.
  Clock::duration since_heartbeat() const;
  EngineCounters counters() const;

 private:
  using Waiting = RequestQueue::Waiting;
  struct Running {
    std::vector<PictureRequest> requests{};
    std::vector<Done> done{};
    std::vector<std::chrono::microseconds> queued{};
    std::set<std::uint64_t> released{};  // sessions of it that other lanes may have
    bool again = false;                  // the device had no memory for it once
  };

  struct Lane {
    std::atomic<Clock::rep> beat = Clock::now().time_since_epoch().count();
    bool busy = false;
    Clock::time_point begun{};            // of its batch
    std::size_t size = 0, offline = 0;    // of its batch; of these, for jobs
    bool cold = false;                    // to be warmed up before its next batch
    std::exception_ptr problem{};         // of warming up
    std::set<std::uint64_t> cancelled{};  // sessions, since its batch began
    std::jthread thread{};
  };

  void run(Lane& lane, const std::stop_token& stop);
  void warm_up(Lane& lane, std::unique_lock<std::mutex>& lock);
  // Until the backend has no memory for more.
  void warm_up_sizes();
  void work(Lane& lane, Running batch);
  void note_begin(Lane& lane, const Running& batch);
  // `later`: what the lane makes behind it, of the same batch. Not empty: it was not answered, and is to be made in these parts.
  std::vector<Running> draw(Lane& lane, Running& batch, const std::deque<Running>& later);
  // The device had no memory for the batch: what is made instead, in the same order. Empty: nothing may be smaller.
  std::vector<Running> smaller(Running& batch);
  void let_go_on(Running& batch, const std::deque<Running>& later);
  void wait(Clock::time_point now, std::unique_lock<std::mutex>& lock, const std::stop_token& stop);
  // All under the lock.
  std::vector<Waiting> take_batch(const Lane& lane, Clock::time_point now);
  DeviceForecast forecast(const Lane& lane, Clock::time_point now) const;
  void count(const PictureRequest& request, Outcome outcome);
  std::optional<RequestQueue::Ticket> add(PictureRequest request);
  void enqueue(PictureRequest request, Done done);
  void answer_all(Lane& lane, Running& batch, std::vector<Answer> answers);
  bool idle() const;                                             // under the lock
  std::vector<Done> done_of(const std::vector<Waiting>& taken);  // under the lock

  const std::shared_ptr<EngineBackend> backend_;
  mutable std::mutex mutex_;
  std::condition_variable_any changed_, idle_, warm_, released_;
  const std::size_t batch_size_;
  BatchBound bound_;  // of batches
  RequestQueue queue_;
  BatchTimes times_{};
  std::map<RequestQueue::Ticket, Done> done_{};  // of what waits
  std::uint64_t changes_ = 0;                    // of what a lane may take
  EngineCounters counters_{};
  std::list<Lane> lanes_{};  // last, so that their threads end before what they use
};

}  // namespace navtalk
