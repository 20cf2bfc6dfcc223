// Engines with two lanes, and a backend in which a test goes on with each batch when it wants to.
#include <barrier>
#include <catch2/catch.hpp>
#include <condition_variable>
#include <future>
#include <map>
#include <set>
#include <thread>

#include "gpu/engine/inference_engine.h"

using namespace navtalk;
using namespace std::chrono_literals;

namespace {

using Outcome = InferenceEngine::Outcome;
using Answer = InferenceEngine::Answer;

// Knows pictures by their times. A batch stands still before `heard` and behind it, until the test lets it go on.
class TwoSteps : public EngineBackend {
 public:
  Made make(std::span<const PictureRequest> batch, const std::function<void()>& heard) override {
    const int picture = static_cast<int>(batch.front().time / 1us);
    {
      std::unique_lock lock(mutex_);
      begun_.push_back(picture);
      changed_.notify_all();
      changed_.wait(lock, [&] { return may_hear_.contains(picture) || free_; });
    }
    heard();
    std::unique_lock lock(mutex_);
    heard_.insert(picture);
    changed_.notify_all();
    changed_.wait(lock, [&] { return may_draw_.contains(picture) || free_; });
    return {.pictures = {[picture] { return I420Picture(picture, 2); }}};
  }

  void let_hear(int picture) { let(may_hear_, picture); }
  void let_draw(int picture) {
    let(may_hear_, picture);
    let(may_draw_, picture);
  }
  void let_all() {
    const std::lock_guard lock(mutex_);
    free_ = true;
    changed_.notify_all();
  }
  // Until so many batches have begun: their pictures, in that order.
  std::vector<int> begun(std::size_t count) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return begun_.size() >= count; });
    return begun_;
  }
  void wait_heard(int picture) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return heard_.contains(picture); });
  }

 private:
  void let(std::set<int>& which, int picture) {
    const std::lock_guard lock(mutex_);
    which.insert(picture);
    changed_.notify_all();
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<int> begun_{};
  std::set<int> may_hear_{}, may_draw_{}, heard_{};
  bool free_ = false;
};

struct TwoLanes {
  std::shared_ptr<TwoSteps> backend = std::make_shared<TwoSteps>();
  std::unique_ptr<InferenceEngine> engine =
      std::make_unique<InferenceEngine>(backend, QueueLimits{.batch = 1}, 2);

  ~TwoLanes() { backend->let_all(); }

  std::future<Answer> ask(std::uint64_t session, int picture, std::chrono::hours due = 1h) {
    auto promise = std::make_shared<std::promise<Answer>>();
    engine->submit({.session = session,
                    .time = std::chrono::microseconds(picture),
                    .deadline = InferenceEngine::Clock::now() + due},
                   [promise](Answer answer) { promise->set_value(std::move(answer)); });
    return promise->get_future();
  }
};

bool waits(const std::future<Answer>& answer) {
  return answer.wait_for(0s) == std::future_status::timeout;
}

}  // namespace

TEST_CASE("a slow picture in one lane holds up nobody in the other") {
  TwoLanes lanes;
  auto slow = lanes.ask(1, 10);
  lanes.backend->begun(1);
  for (int picture = 20; picture < 24; ++picture) {
    auto quick = lanes.ask(2, picture);
    lanes.backend->let_draw(picture);
    CHECK(on_host(quick.get().picture()).width == picture);
  }
  CHECK(waits(slow));
  lanes.backend->let_draw(10);
  CHECK(slow.get().outcome == Outcome::made);
  CHECK(lanes.engine->counters().batches == 5);
}

TEST_CASE("the lane that is free next takes the earliest deadline") {
  TwoLanes lanes;
  std::vector<std::future<Answer>> answers;
  answers.push_back(lanes.ask(1, 10));
  answers.push_back(lanes.ask(2, 20));
  lanes.backend->begun(2);
  answers.push_back(lanes.ask(3, 30, 4h));
  answers.push_back(lanes.ask(4, 40, 2h));
  answers.push_back(lanes.ask(5, 50, 3h));
  lanes.backend->let_draw(20);
  CHECK(lanes.backend->begun(3).at(2) == 40);
  lanes.backend->let_draw(10);
  CHECK(lanes.backend->begun(4).at(3) == 50);
  lanes.backend->let_draw(40);
  CHECK(lanes.backend->begun(5).at(4) == 30);
  lanes.backend->let_all();
  for (auto& answer : answers) CHECK(answer.get().outcome == Outcome::made);
}

TEST_CASE("two pictures of one session are drawn at the same time, once the first was heard") {
  TwoLanes lanes;
  auto first = lanes.ask(1, 10);
  lanes.backend->begun(1);
  auto second = lanes.ask(1, 11), other = lanes.ask(2, 20, 2h);
  CHECK(lanes.backend->begun(2).at(1) == 20);  // although its deadline is later
  lanes.backend->let_draw(20);
  CHECK(other.get().outcome == Outcome::made);
  lanes.backend->let_hear(10);
  lanes.backend->wait_heard(10);
  CHECK(lanes.backend->begun(3).at(2) == 11);
  lanes.backend->let_draw(11);
  CHECK(on_host(second.get().picture()).width == 11);
  CHECK(waits(first));
  lanes.backend->let_draw(10);
  CHECK(on_host(first.get().picture()).width == 10);
}

TEST_CASE("pictures of a session are begun in their order, whichever lane is free") {
  TwoLanes lanes;
  lanes.backend->let_all();
  std::vector<int> asked;
  std::vector<std::future<Answer>> answers;
  for (int picture = 1; picture <= 200; ++picture) {
    answers.push_back(lanes.ask(1, picture));
    asked.push_back(picture);
    if (picture % 4 == 0) answers.back().wait();  // its session has room for no more
  }
  CHECK(lanes.backend->begun(200) == asked);
  for (auto& answer : answers) CHECK(answer.get().outcome == Outcome::made);
}

TEST_CASE("an interrupted session asks again while its old picture is still heard") {
  TwoLanes lanes;
  auto old = lanes.ask(1, 10);
  lanes.backend->begun(1);
  lanes.engine->cancel(1);
  auto after = lanes.ask(1, 11), other = lanes.ask(2, 20);
  CHECK(lanes.backend->begun(2).at(1) == 20);
  lanes.backend->let_draw(10);
  CHECK(old.get().outcome == Outcome::cancelled);
  CHECK(lanes.backend->begun(3).at(2) == 11);
  lanes.backend->let_all();
  CHECK(after.get().outcome == Outcome::made);
  CHECK(other.get().outcome == Outcome::made);
}

TEST_CASE("an engine that ends while both lanes are busy waits for both, and cancels the rest") {
  TwoLanes lanes;
  auto first = lanes.ask(1, 10), second = lanes.ask(2, 20);
  lanes.backend->begun(2);
  auto waiting = lanes.ask(3, 30);
  auto over = std::async(std::launch::async, [&] { lanes.engine.reset(); });
  lanes.backend->let_draw(20);
  CHECK(second.get().outcome == Outcome::made);
  CHECK(over.wait_for(0s) == std::future_status::timeout);
  lanes.backend->let_all();
  over.get();
  CHECK(first.get().outcome == Outcome::made);
  const Outcome outcome = waiting.get().outcome;
  CHECK((outcome == Outcome::cancelled || outcome == Outcome::made));
}

TEST_CASE("one lane that hangs is seen in the heartbeat although the other works") {
  TwoLanes lanes;
  auto hangs = lanes.ask(1, 10);
  lanes.backend->begun(1);
  for (int picture = 20; lanes.engine->since_heartbeat() < 600ms; ++picture) {
    lanes.backend->let_draw(picture);
    CHECK(lanes.ask(2, picture).get().outcome == Outcome::made);
  }
  lanes.backend->let_all();
  CHECK(hangs.get().outcome == Outcome::made);
}

namespace {

// Notes which threads warm up, and which draw without having done so. Two lanes meet in warm_up().
class Warmed : public EngineBackend {
 public:
  Made make(std::span<const PictureRequest> batch, const std::function<void()>& heard) override {
    heard();
    const std::lock_guard lock(mutex_);
    if (!warm.contains(std::this_thread::get_id())) ++cold_pictures;
    return {.pictures = std::vector<FinishPicture>(batch.size(), [] { return I420Picture(2, 2); })};
  }
  void warm_up(std::size_t) override {
    both_.arrive_and_wait();
    const std::lock_guard lock(mutex_);
    warm.insert(std::this_thread::get_id());
    if (broken) throw std::runtime_error("no memory");
  }

  std::set<std::thread::id> warm{};
  int cold_pictures = 0;
  bool broken = false;

 private:
  std::mutex mutex_;
  std::barrier<> both_{2};
};

}  // namespace

TEST_CASE("every lane warms up at the same time, before it draws") {
  const auto backend = std::make_shared<Warmed>();
  InferenceEngine engine(backend, QueueLimits{.batch = 1}, 2);
  engine.warm_up();
  CHECK(backend->warm.size() == 2);
  std::promise<Answer> made;
  engine.submit({.session = 1, .deadline = InferenceEngine::Clock::now() + 1h},
                [&](Answer answer) { made.set_value(std::move(answer)); });
  CHECK(made.get_future().get().outcome == Outcome::made);
  CHECK(backend->cold_pictures == 0);
}

TEST_CASE("a lane that cannot warm up is told to who asked, and the engine goes on") {
  const auto backend = std::make_shared<Warmed>();
  InferenceEngine engine(backend, {}, 2);
  backend->broken = true;
  CHECK_THROWS_WITH(engine.warm_up(), "no memory");
  backend->broken = false;
  CHECK_NOTHROW(engine.warm_up());
  engine.wait_idle();
}

TEST_CASE("an engine without nets is warm at once") {
  InferenceEngine without_nets(nullptr, {}, 2);
  CHECK_NOTHROW(without_nets.warm_up());
}
