#include "gpu/engine/inference_engine.h"

#include <utility>

#include "core/base/error.h"

namespace navtalk {
namespace {

using namespace std::chrono_literals;
using std::chrono::duration_cast;
using std::chrono::microseconds;

constexpr auto k_beat = 250ms;

InferenceEngine::Answer without_picture(InferenceEngine::Outcome outcome) {
  return {.outcome = outcome};
}

void answer_each(std::vector<InferenceEngine::Done>& all, InferenceEngine::Outcome outcome) {
  for (InferenceEngine::Done& done : all) done(without_picture(outcome));
}

}  // namespace

InferenceEngine::InferenceEngine(std::shared_ptr<EngineBackend> backend, QueueLimits limits)
    : backend_(std::move(backend)),
      queue_(limits),
      last_beat_(Clock::now().time_since_epoch().count()),
      thread_([this](const std::stop_token& stop) { run(stop); }) {}

InferenceEngine::~InferenceEngine() {
  thread_.request_stop();
  thread_.join();
  std::vector<Done> left = done_of(queue_.take_all());
  answer_each(left, Outcome::cancelled);
}

void InferenceEngine::submit(PictureRequest request, Done done) {
  {
    const std::lock_guard lock(mutex_);
    const auto ticket = queue_.add(std::move(request), Clock::now());
    if (ticket) {
      done_.emplace(*ticket, std::move(done));
      changed_.notify_one();
      return;
    }
    ++counters_.crowded;
  }
  done(without_picture(Outcome::crowded));
}

void InferenceEngine::cancel(std::uint64_t session) {
  std::vector<Done> taken;
  {
    const std::lock_guard lock(mutex_);
    taken = done_of(queue_.take_session(session));
    counters_.cancelled += taken.size();
    if (busy_) cancelled_.insert(session);
    if (!busy_ && queue_.size() == 0) idle_.notify_all();
  }
  answer_each(taken, Outcome::cancelled);
}

void InferenceEngine::wait_idle() {
  std::unique_lock lock(mutex_);
  idle_.wait(lock, [this] { return !busy_ && queue_.size() == 0; });
}

InferenceEngine::Clock::duration InferenceEngine::since_heartbeat() const {
  return Clock::now().time_since_epoch() - Clock::duration(last_beat_.load());
}

EngineCounters InferenceEngine::counters() const {
  const std::lock_guard lock(mutex_);
  return counters_;
}

std::vector<InferenceEngine::Done> InferenceEngine::done_of(const std::vector<Waiting>& taken) {
  std::vector<Done> all;
  for (const Waiting& one : taken) all.push_back(std::move(done_.extract(one.ticket).mapped()));
  return all;
}

void InferenceEngine::run(const std::stop_token& stop) {
  std::unique_lock lock(mutex_);
  while (!stop.stop_requested()) {
    const Clock::time_point now = Clock::now();
    last_beat_ = now.time_since_epoch().count();
    std::vector<Done> late = done_of(queue_.take_late(now));
    std::vector<Waiting> taken = queue_.take_batch(now);
    if (late.empty() && taken.empty()) {
      const Clock::time_point until =
          std::min(queue_.closes(now).value_or(now + k_beat), now + k_beat);
      const std::size_t before = queue_.size();
      changed_.wait_until(lock, stop, until, [&] { return queue_.size() != before; });
      continue;
    }
    Running batch{.done = done_of(taken)};
    for (Waiting& one : taken) {
      batch.requests.push_back(std::move(one.request));
      batch.queued.push_back(duration_cast<microseconds>(now - one.since));
      counters_.queued += batch.queued.back();
    }
    counters_.late += late.size();
    busy_ = true;
    lock.unlock();
    answer_each(late, Outcome::late);
    if (!batch.requests.empty()) work(batch);
    lock.lock();
    busy_ = false;
    cancelled_.clear();
    if (queue_.size() == 0) idle_.notify_all();
  }
}

void InferenceEngine::work(Running& batch) {
  const Clock::time_point begin = Clock::now();
  const std::size_t count = batch.requests.size();
  EngineBackend::Made made;
  std::exception_ptr problem;
  try {
    made = backend_->make(batch.requests);
    if (made.pictures.size() != count) {
      throw Error(Code::failed,
                  "the nets made another number of pictures than they were asked for");
    }
  } catch (...) {
    problem = std::current_exception();
  }
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
    counters_.features += made.features;
    counters_.drawing += working - made.features;
  }
  answer_all(batch, std::move(answers));
}

void InferenceEngine::answer_all(Running& batch, std::vector<Answer> answers) {
  {
    const std::lock_guard lock(mutex_);
    for (std::size_t i = 0; i < answers.size(); ++i) {
      if (cancelled_.contains(batch.requests[i].session)) {
        answers[i] = without_picture(Outcome::cancelled);
      }
      const Outcome outcome = answers[i].outcome;
      ++(outcome == Outcome::made        ? counters_.made
         : outcome == Outcome::cancelled ? counters_.cancelled
                                         : counters_.failed);
    }
  }
  for (std::size_t i = 0; i < answers.size(); ++i) batch.done[i](std::move(answers[i]));
}

}  // namespace navtalk
