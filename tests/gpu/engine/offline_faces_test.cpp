// Faces of jobs beside pictures of sessions, on a device of the test's own: it draws when the test lets it.
#include <catch2/catch.hpp>
#include <condition_variable>
#include <future>
#include <thread>

#include "core/base/error.h"
#include "gpu/engine/inference_engine.h"

using namespace navtalk;
using namespace std::chrono_literals;

namespace {

using Outcome = InferenceEngine::Outcome;
using Answer = InferenceEngine::Answer;
using Batch = std::vector<std::uint64_t>;

constexpr std::uint64_t k_job = 100;

// Draws a batch within `takes`, or, while `held`, when the test lets it.
class Device : public EngineBackend {
 public:
  Made make(std::span<const PictureRequest> batch, const std::function<void()>&) override {
    Batch numbers;
    for (const PictureRequest& request : batch) numbers.push_back(request.session);
    std::unique_lock lock(mutex_);
    batches_.push_back(numbers);
    changed_.notify_all();
    changed_.wait(lock, [this] { return !held_; });
    if (broken) throw Error(Code::failed, "the device is lost");
    if (takes > 0ms) changed_.wait_for(lock, takes, [] { return false; });
    Made made;
    for (const PictureRequest& request : batch) {
      if (request.offline) {
        request.offline->face = {{1}, {static_cast<std::uint8_t>(request.session)}};
        made.pictures.emplace_back();
      } else {
        made.pictures.emplace_back([] { return I420Picture(2, 2); });
      }
    }
    return made;
  }

  void hold(bool now) {
    const std::lock_guard lock(mutex_);
    held_ = now;
    changed_.notify_all();
  }
  std::vector<Batch> begun(std::size_t count) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return batches_.size() >= count; });
    return batches_;
  }

  std::atomic<bool> broken = false;
  std::chrono::milliseconds takes{0};

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<Batch> batches_{};
  bool held_ = false;
};

struct Shared {
  std::shared_ptr<Device> device = std::make_shared<Device>();
  std::unique_ptr<InferenceEngine> engine;
  std::vector<std::shared_ptr<OfflineFace>> faces{};

  explicit Shared(std::size_t batch = 8, int lanes = 1)
      : engine(std::make_unique<InferenceEngine>(device, QueueLimits{.batch = batch}, lanes)) {}
  ~Shared() { device->hold(false); }

  std::future<Answer> live(std::uint64_t session) {
    return ask([&](auto done) {
      engine->submit({.session = session, .deadline = InferenceEngine::Clock::now() + 1h},
                     std::move(done));
    });
  }
  std::future<Answer> offline(std::uint64_t job = k_job) {
    faces.push_back(std::make_shared<OfflineFace>());
    return ask([&](auto done) {
      engine->submit_offline({.session = job, .offline = faces.back()}, std::move(done));
    });
  }
  static std::future<Answer> ask(const auto& submit) {
    auto promise = std::make_shared<std::promise<Answer>>();
    submit([promise](Answer answer) { promise->set_value(std::move(answer)); });
    return promise->get_future();
  }
};

}  // namespace

TEST_CASE("without sessions a job has the whole batch, and its faces come back") {
  Shared shared;
  shared.device->hold(true);
  std::vector<std::future<Answer>> answers;
  answers.push_back(shared.offline());
  shared.device->begun(1);
  for (int i = 0; i < 9; ++i) answers.push_back(shared.offline());
  shared.device->hold(false);
  for (auto& answer : answers) CHECK(answer.get().outcome == Outcome::made);
  for (const auto& face : shared.faces)
    CHECK(face->face.values == std::vector<std::uint8_t>{k_job});
  shared.engine->wait_idle();
  CHECK(shared.device->begun(3)[1].size() == 8);
  CHECK(shared.engine->counters().offline == 10);
  CHECK(shared.engine->counters().made == 0);
}

TEST_CASE("jobs fill the batch that a session's picture closes, behind it") {
  Shared shared;
  for (int i = 0; i < 3; ++i) shared.live(1).get();  // quick batches are known
  shared.device->hold(true);
  const std::size_t before = shared.device->begun(3).size();
  auto occupied = shared.live(2);
  shared.device->begun(before + 1);
  auto face = shared.offline();
  auto picture = shared.live(1);
  shared.device->hold(false);
  CHECK(picture.get().outcome == Outcome::made);
  CHECK(face.get().outcome == Outcome::made);
  CHECK(shared.device->begun(before + 2).at(before + 1) == Batch{1, k_job});
}

TEST_CASE("a face of a job is not begun where a session's picture would wait for it") {
  Shared shared(1);
  shared.device->takes = 60ms;  // more than the time between two pictures
  shared.live(1).get();
  std::vector<std::future<Answer>> answers;
  auto face = shared.offline();
  for (int i = 0; i < 4; ++i) answers.push_back(shared.live(1));
  for (auto& answer : answers) answer.wait();
  CHECK(face.wait_for(0s) == std::future_status::timeout);
  for (const Batch& batch : shared.device->begun(5)) CHECK(batch == Batch{1});
}

TEST_CASE("jobs leave one of two lanes to a session that is silent") {
  Shared shared(1, 2);
  shared.device->takes = 60ms;
  shared.live(1).get();
  shared.device->hold(true);
  auto first = shared.offline(), second = shared.offline();
  CHECK(shared.device->begun(2).at(1) == Batch{k_job});
  auto picture = shared.live(1);
  CHECK(shared.device->begun(3).at(2) == Batch{1});
  shared.device->hold(false);
  CHECK(picture.get().outcome == Outcome::made);
  CHECK(first.get().outcome == Outcome::made);
  CHECK(second.get().outcome == Outcome::made);
}

TEST_CASE("the end of a job cancels what it asked for, waiting or drawn, and nothing of others") {
  Shared shared(1);
  shared.device->hold(true);
  auto drawn = shared.offline();
  shared.device->begun(1);
  auto waiting = shared.offline(), other = shared.offline(k_job + 1);
  shared.engine->cancel(k_job);
  CHECK(waiting.get().outcome == Outcome::cancelled);
  shared.device->hold(false);
  CHECK(drawn.get().outcome == Outcome::cancelled);
  CHECK(other.get().outcome == Outcome::made);
}

TEST_CASE("a device that fails is told to the job, and an engine that ends cancels what waits") {
  Shared shared(1);
  shared.device->broken = true;
  const Answer failed = shared.offline().get();
  CHECK(failed.outcome == Outcome::failed);
  CHECK_THROWS_AS(std::rethrow_exception(failed.problem), Error);
  shared.device->hold(true);
  auto drawn = shared.offline();
  shared.device->begun(2);
  auto waiting = shared.offline();
  auto over = std::async(std::launch::async, [&] { shared.engine.reset(); });
  shared.device->hold(false);
  over.get();
  CHECK(drawn.get().outcome == Outcome::failed);
  CHECK(waiting.get().outcome != Outcome::made);
}

TEST_CASE("sessions and jobs ask from many threads, and each is answered once") {
  Shared shared(4, 2);
  std::atomic<int> answered = 0;
  const auto done = [&answered](Answer) { ++answered; };
  {
    std::vector<std::jthread> threads;
    for (std::uint64_t number = 1; number <= 4; ++number) {
      threads.emplace_back([&, number] {
        for (int i = 0; i < 100; ++i) {
          if (number % 2 == 0) {
            shared.engine->submit_offline(
                {.session = k_job + number, .offline = std::make_shared<OfflineFace>()}, done);
          } else {
            shared.engine->submit(
                {.session = number, .deadline = InferenceEngine::Clock::now() + 1h}, done);
          }
          if (i % 30 == 29) shared.engine->cancel(number % 2 == 0 ? k_job + number : number);
        }
      });
    }
  }
  shared.engine->wait_idle();
  CHECK(answered == 400);
}
