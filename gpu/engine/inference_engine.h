// The thread that owns a device's nets, and the batches that it makes of what all sessions ask for. One engine per
// device; its functions may be called from any thread.
//
//   submit() ──► RequestQueue ── a batch ──► EngineBackend::make() ──► done(answer)
//
// Every request is answered exactly once. What is finished of a picture besides the nets (FinishPicture) runs where
// the answer is used, so that the device goes on with the next batch.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <exception>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <stop_token>
#include <thread>
#include <vector>

#include "gpu/engine/engine_backend.h"
#include "gpu/engine/request_queue.h"

namespace navtalk {

// Since the engine began.
struct EngineCounters {
  std::uint64_t batches = 0;
  std::uint64_t made = 0, late = 0, cancelled = 0, crowded = 0, failed = 0;  // requests, by outcome
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
  // Short, and throws nothing. On the engine's thread; on that of submit(), cancel() or the destructor for requests
  // that no batch has.
  using Done = std::function<void(Answer)>;

  explicit InferenceEngine(std::shared_ptr<EngineBackend> backend, QueueLimits limits = {});
  // Waits for the batch that runs; what waits is cancelled.
  ~InferenceEngine();
  InferenceEngine(const InferenceEngine&) = delete;
  InferenceEngine& operator=(const InferenceEngine&) = delete;

  void submit(PictureRequest request, Done done);
  // All requests of the session, also those of the batch that runs: they are answered as cancelled.
  void cancel(std::uint64_t session);
  // Until no batch runs and no request waits: the nets may be changed then, if nobody submits meanwhile.
  void wait_idle();

  // Since the thread last turned: it does four times a second while it is idle, and between two batches.
  Clock::duration since_heartbeat() const;
  EngineCounters counters() const;

 private:
  using Waiting = RequestQueue::Waiting;
  struct Running {
    std::vector<PictureRequest> requests{};
    std::vector<Done> done{};
    std::vector<std::chrono::microseconds> queued{};
  };

  void run(const std::stop_token& stop);
  void work(Running& batch);
  void answer_all(Running& batch, std::vector<Answer> answers);
  std::vector<Done> done_of(const std::vector<Waiting>& taken);  // under the lock

  const std::shared_ptr<EngineBackend> backend_;
  mutable std::mutex mutex_;
  std::condition_variable_any changed_, idle_;
  RequestQueue queue_;
  std::map<RequestQueue::Ticket, Done> done_{};  // of what waits
  std::set<std::uint64_t> cancelled_{};          // sessions, while a batch runs
  EngineCounters counters_{};
  bool busy_ = false;
  std::atomic<Clock::rep> last_beat_;
  std::jthread thread_;  // last, so that it ends before what it uses
};

}  // namespace navtalk
