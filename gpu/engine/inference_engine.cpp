#include "gpu/engine/inference_engine.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "core/base/check.h"
#include "core/base/device_lost.h"
#include "core/base/error.h"
#include "core/base/out_of_memory.h"

namespace navtalk {
namespace {

using namespace std::chrono_literals;
using std::chrono::duration_cast;
using std::chrono::microseconds;

constexpr auto k_beat = 250ms;
// What jobs may have changes with the time, too, while they wait for it.
constexpr auto k_offline_look = 4ms;
// A forecast reaches as far as the longest batch of jobs, whose times are not known for sure.
constexpr auto k_foreseen = 500ms;

InferenceEngine::Answer without_picture(InferenceEngine::Outcome outcome) {
  return {.outcome = outcome};
}

void answer_each(std::vector<InferenceEngine::Done>& all, InferenceEngine::Outcome outcome) {
  for (InferenceEngine::Done& done : all) done(without_picture(outcome));
}

template <class Kind>
bool is(const std::exception_ptr& problem) {
  if (!problem) return false;
  try {
    std::rethrow_exception(problem);
  } catch (const Kind&) {
    return true;
  } catch (...) {
    return false;
  }
}

}  // namespace

InferenceEngine::InferenceEngine(std::shared_ptr<EngineBackend> backend, QueueLimits limits,
                                 int lanes)
    : backend_(std::move(backend)),
      batch_size_(limits.batch),
      bound_(limits.batch),
      queue_(limits),
      lanes_(static_cast<std::size_t>(lanes)) {
  NAVTALK_CHECK(lanes > 0);
  for (Lane& lane : lanes_) {
    lane.thread = std::jthread([this, &lane](const std::stop_token& stop) { run(lane, stop); });
  }
}

InferenceEngine::~InferenceEngine() {
  for (Lane& lane : lanes_) lane.thread.request_stop();
  for (Lane& lane : lanes_) lane.thread.join();
  std::vector<Done> left = done_of(queue_.take_all());
  answer_each(left, Outcome::cancelled);
}

void InferenceEngine::submit(PictureRequest request, Done done) {
  NAVTALK_CHECK(!request.offline);
  enqueue(std::move(request), std::move(done));
}

void InferenceEngine::submit_offline(PictureRequest request, Done done) {
  NAVTALK_CHECK(request.offline);
  enqueue(std::move(request), std::move(done));
}

std::optional<RequestQueue::Ticket> InferenceEngine::add(PictureRequest request) {
  const Clock::time_point now = Clock::now();
  return request.offline ? queue_.add_offline(std::move(request), now)
                         : queue_.add(std::move(request), now);
}

void InferenceEngine::enqueue(PictureRequest request, Done done) {
  const bool offline = request.offline != nullptr;
  {
    const std::lock_guard lock(mutex_);
    const auto ticket = add(std::move(request));
    if (ticket) {
      done_.emplace(*ticket, std::move(done));
      ++changes_;
      changed_.notify_one();
      return;
    }
    if (!offline) ++counters_.crowded;
  }
  done(without_picture(Outcome::crowded));
}

void InferenceEngine::cancel(std::uint64_t session) {
  std::vector<Done> taken;
  {
    const std::lock_guard lock(mutex_);
    taken = done_of(queue_.take_session(session));
    counters_.cancelled += taken.size();
    std::vector<Done> of_job = done_of(queue_.take_job(session));
    std::ranges::move(of_job, std::back_inserter(taken));
    for (Lane& lane : lanes_) {
      if (lane.busy) lane.cancelled.insert(session);
    }
    if (idle()) idle_.notify_all();
  }
  answer_each(taken, Outcome::cancelled);
}

void InferenceEngine::wait_idle() {
  std::unique_lock lock(mutex_);
  idle_.wait(lock, [this] { return idle(); });
}

void InferenceEngine::warm_up() {
  std::unique_lock lock(mutex_);
  bound_ = BatchBound(batch_size_);
  for (Lane& lane : lanes_) {
    lane.cold = true;
    lane.problem = nullptr;
  }
  ++changes_;
  changed_.notify_all();
  warm_.wait(lock, [this] { return std::ranges::none_of(lanes_, &Lane::cold); });
  for (const Lane& lane : lanes_) {
    if (lane.problem) std::rethrow_exception(lane.problem);
  }
}

void InferenceEngine::warm_up(Lane& lane, std::unique_lock<std::mutex>& lock) {
  lane.busy = true;
  lock.unlock();
  std::exception_ptr problem;
  try {
    if (backend_) warm_up_sizes();
  } catch (...) {
    problem = std::current_exception();
  }
  lock.lock();
  lane.busy = lane.cold = false;
  lane.problem = problem;
  warm_.notify_all();
  if (idle()) idle_.notify_all();
}

void InferenceEngine::warm_up_sizes() {
  std::size_t well = 0;
  for (std::size_t faces = 1; well < batch_size_; faces = std::min(2 * faces, batch_size_)) {
    try {
      backend_->warm_up(faces);
    } catch (const OutOfMemory&) {
      if (well == 0) throw;
      backend_->on_out_of_memory(faces, well);
      const std::lock_guard lock(mutex_);
      ++counters_.out_of_memory;
      bound_.limit(well);
      return;
    }
    well = faces;
  }
}

InferenceEngine::Clock::duration InferenceEngine::since_heartbeat() const {
  Clock::rep oldest = Clock::now().time_since_epoch().count();
  for (const Lane& lane : lanes_) oldest = std::min(oldest, lane.beat.load());
  return Clock::now().time_since_epoch() - Clock::duration(oldest);
}

bool InferenceEngine::idle() const {
  return queue_.size() == 0 && std::ranges::none_of(lanes_, &Lane::busy);
}

EngineCounters InferenceEngine::counters() const {
  const std::lock_guard lock(mutex_);
  EngineCounters counters = counters_;
  counters.largest_batch = bound_.current();
  return counters;
}

std::vector<InferenceEngine::Done> InferenceEngine::done_of(const std::vector<Waiting>& taken) {
  std::vector<Done> all;
  for (const Waiting& one : taken) all.push_back(std::move(done_.extract(one.ticket).mapped()));
  return all;
}

void InferenceEngine::run(Lane& lane, const std::stop_token& stop) {
  std::unique_lock lock(mutex_);
  while (!stop.stop_requested()) {
    const Clock::time_point now = Clock::now();
    lane.beat = now.time_since_epoch().count();
    if (lane.cold) {
      warm_up(lane, lock);
      continue;
    }
    std::vector<Done> late = done_of(queue_.take_late(now));
    std::vector<Waiting> taken = take_batch(lane, now);
    if (late.empty() && taken.empty()) {
      wait(now, lock, stop);
      continue;
    }
    Running batch{.done = done_of(taken)};
    lane.begun = now;
    lane.size = taken.size();
    lane.offline = 0;
    for (Waiting& one : taken) {
      batch.queued.push_back(duration_cast<microseconds>(now - one.since));
      one.request.offline ? void(++lane.offline) : void(counters_.queued += batch.queued.back());
      batch.requests.push_back(std::move(one.request));
    }
    counters_.late += late.size();
    lane.busy = true;
    lock.unlock();
    answer_each(late, Outcome::late);
    if (!batch.requests.empty()) work(lane, std::move(batch));
    lock.lock();
    lane.busy = false;
    lane.cancelled.clear();
    if (idle()) idle_.notify_all();
  }
  lane.cold = false;
  warm_.notify_all();
}

void InferenceEngine::wait(Clock::time_point now, std::unique_lock<std::mutex>& lock,
                           const std::stop_token& stop) {
  Clock::time_point until = std::min(queue_.closes(now).value_or(now + k_beat), now + k_beat);
  if (queue_.offline() > 0) until = std::min(until, now + k_offline_look);
  changed_.wait_until(lock, stop, until, [this, before = changes_] { return changes_ != before; });
}

DeviceForecast InferenceEngine::forecast(const Lane& own, Clock::time_point now) const {
  DeviceForecast device{.requests = queue_.expected(now, now + k_foreseen),
                        .sessions = queue_.has_sessions(now)};
  for (const Lane& lane : lanes_) {
    if (&lane == &own) continue;
    const Clock::time_point end =
        lane.busy ? lane.begun + times_.expected(lane.size).value_or(microseconds(0)) : now;
    device.others.push_back({.free = std::max(end, now), .offline = lane.busy && lane.offline > 0});
  }
  return device;
}

std::vector<InferenceEngine::Waiting> InferenceEngine::take_batch(const Lane& lane,
                                                                  Clock::time_point now) {
  const std::size_t most = bound_.at(now);
  queue_.limit_batch(most);
  std::vector<Waiting> batch = queue_.take_batch(now);
  if (queue_.offline() == 0) return batch;
  const std::size_t room = offline_room(forecast(lane, now), times_, batch.size(), most, now);
  std::vector<Waiting> offline = queue_.take_offline(room);
  std::ranges::move(offline, std::back_inserter(batch));
  return batch;
}

// Sessions that the lane has more of keep their order.
void InferenceEngine::let_go_on(Running& batch, const std::deque<Running>& later) {
  const std::lock_guard lock(mutex_);
  for (const PictureRequest& request : batch.requests) {
    const auto of_session = [&](const PictureRequest& other) {
      return !other.offline && other.session == request.session;
    };
    const bool more = std::ranges::any_of(
        later, [&](const Running& one) { return std::ranges::any_of(one.requests, of_session); });
    if (request.offline || more) continue;
    queue_.release(request.session);
    batch.released.insert(request.session);
  }
  ++changes_;
  released_.notify_all();
  if (queue_.size() > 0) changed_.notify_all();
}

void InferenceEngine::work(Lane& lane, Running batch) {
  std::deque<Running> left;
  left.push_back(std::move(batch));
  while (!left.empty()) {
    Running next = std::move(left.front());
    left.pop_front();
    note_begin(lane, next);
    std::vector<Running> parts = draw(lane, next, left);
    left.insert(left.begin(), std::move_iterator(parts.begin()), std::move_iterator(parts.end()));
  }
}

void InferenceEngine::note_begin(Lane& lane, const Running& batch) {
  const Clock::time_point now = Clock::now();
  const std::lock_guard lock(mutex_);
  lane.beat = now.time_since_epoch().count();
  lane.begun = now;
  lane.size = batch.requests.size();
}

std::vector<InferenceEngine::Running> InferenceEngine::draw(Lane& lane, Running& batch,
                                                            const std::deque<Running>& later) {
  const Clock::time_point begin = Clock::now();
  const std::size_t count = batch.requests.size();
  EngineBackend::Made made;
  std::exception_ptr problem;
  bool heard = false;
  const auto let_others = [&] {
    if (!std::exchange(heard, true)) let_go_on(batch, later);
  };
  try {
    made = backend_->make(batch.requests, let_others);
    if (made.pictures.size() != count) {
      throw Error(Code::failed,
                  "the nets made another number of pictures than they were asked for");
    }
  } catch (...) {
    problem = std::current_exception();
  }
  try {
    std::vector<Running> parts;
    if (is<OutOfMemory>(problem)) parts = smaller(batch);
    if (!parts.empty()) return parts;
  } catch (...) {
    problem = std::current_exception();  // giving memory back did not work
  }
  let_others();
  const auto working = duration_cast<microseconds>(Clock::now() - begin);
  std::vector<Answer> answers(count);
  for (std::size_t i = 0; i < count; ++i) {
    answers[i] = {.outcome = problem ? Outcome::failed : Outcome::made,
                  .problem = problem,
                  .queued = batch.queued[i],
                  .working = working};
    if (!problem) answers[i].picture = std::move(made.pictures[i]);
  }
  {
    const std::lock_guard lock(mutex_);
    ++counters_.batches;
    if (is<DeviceLost>(problem)) ++counters_.lost;
    if (count > 0 && !problem) times_.note(count, working);
    counters_.features += made.features;
    counters_.drawing += working - made.features;
  }
  answer_all(lane, batch, std::move(answers));
  return {};
}

// What was heard of it is heard once more, so nothing of its sessions may be drawn beside it.
std::vector<InferenceEngine::Running> InferenceEngine::smaller(Running& batch) {
  const std::size_t count = batch.requests.size();
  const bool given_up = count == 1 && batch.again;
  std::size_t most = 1;
  {
    const std::lock_guard lock(mutex_);
    ++counters_.out_of_memory;
    if (bound_.exceeded(count, Clock::now())) ++counters_.halved;
    if (given_up) ++counters_.exhausted;
    most = bound_.current();
  }
  backend_->on_out_of_memory(count, most);
  if (given_up) return {};
  {
    std::unique_lock lock(mutex_);
    released_.wait(lock, [&] { return queue_.hold(batch.released); });
  }
  std::vector<Running> parts;
  for (std::size_t i = 0; i < count; ++i) {
    if (i % most == 0) parts.emplace_back().again = count == 1;
    parts.back().requests.push_back(std::move(batch.requests[i]));
    parts.back().done.push_back(std::move(batch.done[i]));
    parts.back().queued.push_back(batch.queued[i]);
  }
  return parts;
}

void InferenceEngine::count(const PictureRequest& request, Outcome outcome) {
  if (request.offline) {
    if (outcome == Outcome::made) ++counters_.offline;
    return;
  }
  ++(outcome == Outcome::made        ? counters_.made
     : outcome == Outcome::cancelled ? counters_.cancelled
                                     : counters_.failed);
}

void InferenceEngine::answer_all(Lane& lane, Running& batch, std::vector<Answer> answers) {
  {
    const std::lock_guard lock(mutex_);
    for (std::size_t i = 0; i < answers.size(); ++i) {
      if (lane.cancelled.contains(batch.requests[i].session)) {
        answers[i] = without_picture(Outcome::cancelled);
      }
      count(batch.requests[i], answers[i].outcome);
    }
  }
  for (std::size_t i = 0; i < answers.size(); ++i) batch.done[i](std::move(answers[i]));
}

}  // namespace navtalk
