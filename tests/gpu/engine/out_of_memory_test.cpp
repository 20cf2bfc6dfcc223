// A device of the test's own that has memory for so many faces at once.
#include <catch2/catch.hpp>
#include <future>
#include <map>
#include <set>
#include <thread>

#include "core/base/device_lost.h"
#include "core/base/error.h"
#include "core/base/guarded.h"
#include "core/base/out_of_memory.h"
#include "gpu/engine/inference_engine.h"

using namespace navtalk;
using namespace std::chrono_literals;

namespace {

using Outcome = InferenceEngine::Outcome;
using Answer = InferenceEngine::Answer;
using Batch = std::vector<std::uint64_t>;

class SmallDevice : public EngineBackend {
 public:
  Made make(std::span<const PictureRequest> batch, const std::function<void()>& heard) override {
    Batch sessions;
    for (const PictureRequest& request : batch) sessions.push_back(request.session);
    note_hearing(sessions);
    tried.with([&](auto& all) { all.push_back(sessions); });
    heard();
    begun.fetch_add(1);
    while (held) std::this_thread::yield();
    if (lost) throw DeviceLost("the device is lost");
    if (batch.size() > room) throw OutOfMemory("the device is full");
    Made made;
    for (const PictureRequest& request : batch) {
      const int width = static_cast<int>(request.session);
      if (request.offline) request.offline->face = {{1}, {static_cast<std::uint8_t>(width)}};
      made.pictures.emplace_back([width] { return I420Picture(width, 2); });
    }
    return made;
  }
  void warm_up(std::size_t faces) override {
    warmed.with([&](auto& all) { all.push_back(faces); });
    if (faces > room) throw OutOfMemory("the device is full");
  }
  void on_out_of_memory(std::size_t faces, std::size_t next) override {
    told.with([&](auto& all) { all.emplace_back(faces, next); });
    if (gives_back > 0) room = gives_back.load();
    if (stuck) throw Error(Code::failed, "the device is lost");
  }

  std::vector<Batch> batches() {
    return tried.with([](const auto& all) { return all; });
  }

  std::atomic<std::size_t> room = 8, gives_back = 0;
  std::atomic<bool> held = false, stuck = false, lost = false;
  std::atomic<int> begun = 0, heard_twice = 0;
  Guarded<std::vector<Batch>> tried;
  Guarded<std::vector<std::size_t>> warmed;
  Guarded<std::vector<std::pair<std::size_t, std::size_t>>> told;

 private:
  // No session may be heard in two lanes at the same time.
  void note_hearing(const Batch& sessions) {
    hearing_.with([&](auto& all) {
      for (const std::uint64_t session : sessions) heard_twice += all.contains(session) ? 1 : 0;
      all.insert(sessions.begin(), sessions.end());
    });
    std::this_thread::yield();
    hearing_.with([&](auto& all) {
      for (const std::uint64_t session : sessions) all.erase(session);
    });
  }
  Guarded<std::set<std::uint64_t>> hearing_;
};

struct SmallEngine {
  explicit SmallEngine(int lanes = 1)
      : engine(std::make_unique<InferenceEngine>(device, QueueLimits{}, lanes)) {}
  ~SmallEngine() { device->held = false; }

  // `due`: one deadline after the other.
  std::future<Answer> ask(std::uint64_t session, int due = 0) {
    auto promise = std::make_shared<std::promise<Answer>>();
    engine->submit({.session = session,
                    .deadline = InferenceEngine::Clock::now() + 1h + std::chrono::minutes(due)},
                   [promise](Answer answer) { promise->set_value(std::move(answer)); });
    return promise->get_future();
  }
  // One batch of these sessions, the first of them due last. Behind one of session 100.
  std::vector<std::future<Answer>> ask_at_once(const Batch& sessions) {
    device->held = true;
    const int before = device->begun;
    std::vector<std::future<Answer>> all;
    all.push_back(ask(100));
    while (device->begun == before) std::this_thread::yield();
    int due = static_cast<int>(sessions.size());
    for (const std::uint64_t session : sessions) all.push_back(ask(session, due--));
    device->held = false;
    return all;
  }

  std::shared_ptr<SmallDevice> device = std::make_shared<SmallDevice>();
  std::unique_ptr<InferenceEngine> engine;
};

}  // namespace

TEST_CASE(
    "a batch without memory is made in halves, the earliest deadline first, and nobody loses a "
    "picture") {
  SmallEngine small;
  small.device->room = 2;
  auto answers = small.ask_at_once({1, 2, 3, 4, 5, 6, 7, 8});
  std::uint64_t session = 100;
  for (auto& answer : answers) {
    const Answer one = answer.get();
    REQUIRE(one.outcome == Outcome::made);
    CHECK(on_host(one.picture()).width == static_cast<int>(session));
    session = session == 100 ? 1 : session + 1;
  }
  CHECK(small.device->batches() == std::vector<Batch>{{100},
                                                      {8, 7, 6, 5, 4, 3, 2, 1},
                                                      {8, 7, 6, 5},
                                                      {8, 7},
                                                      {6, 5},
                                                      {4, 3, 2, 1},
                                                      {4, 3},
                                                      {2, 1}});
  small.engine->wait_idle();
  const EngineCounters counters = small.engine->counters();
  CHECK(counters.made == 9);
  CHECK(counters.failed == 0);
  CHECK(counters.out_of_memory == 3);
  CHECK(counters.halved == 2);
  CHECK(counters.largest_batch == 2);
  CHECK(counters.batches == 5);
}

TEST_CASE("batches stay as small as the device has memory for") {
  SmallEngine small;
  small.device->room = 4;
  for (auto& answer : small.ask_at_once({1, 2, 3, 4, 5, 6, 7, 8})) answer.get();
  small.device->tried.with([](auto& all) { all.clear(); });
  for (auto& answer : small.ask_at_once({1, 2, 3, 4, 5, 6})) answer.get();
  for (const Batch& batch : small.device->batches()) CHECK(batch.size() <= 4);
  CHECK(small.engine->counters().out_of_memory == 1);
}

TEST_CASE("a single picture is tried once more after memory was given back") {
  SmallEngine small;
  small.device->room = 0;
  small.device->gives_back = 1;
  CHECK(small.ask(1).get().outcome == Outcome::made);
  CHECK(small.device->batches() == std::vector<Batch>{{1}, {1}});
  CHECK(small.engine->counters().out_of_memory == 1);
  CHECK(small.engine->counters().halved == 1);
  CHECK(small.engine->counters().exhausted == 0);
}

TEST_CASE("a device without memory for one picture fails it, and goes on") {
  SmallEngine small;
  small.device->room = 0;
  const Answer answer = small.ask(1).get();
  CHECK(answer.outcome == Outcome::failed);
  CHECK_THROWS_AS(std::rethrow_exception(answer.problem), OutOfMemory);
  small.engine->wait_idle();
  CHECK(small.engine->counters().failed == 1);
  CHECK(small.engine->counters().out_of_memory == 2);
  CHECK(small.engine->counters().exhausted == 1);
  small.device->room = 1;
  CHECK(small.ask(1).get().outcome == Outcome::made);
}

TEST_CASE("a device that cannot even give memory back fails its batch, and the engine goes on") {
  SmallEngine small;
  small.device->room = 0;
  small.device->stuck = true;
  const Answer answer = small.ask(1).get();
  CHECK(answer.outcome == Outcome::failed);
  CHECK_THROWS_AS(std::rethrow_exception(answer.problem), Error);
  small.device->room = 1;
  CHECK(small.ask(1).get().outcome == Outcome::made);
}

TEST_CASE(
    "who cancels while a batch is divided is answered so, and the others have their pictures") {
  SmallEngine small;
  small.device->held = true;
  small.device->room = 1;
  auto first = small.ask(1), second = small.ask(2);
  while (small.device->begun < 1) std::this_thread::yield();
  small.engine->cancel(1);
  small.device->held = false;
  CHECK(first.get().outcome == Outcome::cancelled);
  CHECK(second.get().outcome == Outcome::made);
}

TEST_CASE("faces of jobs are made in the parts of a batch, too") {
  SmallEngine small;
  small.device->room = 1;
  std::vector<std::shared_ptr<OfflineFace>> faces;
  std::vector<std::future<Answer>> answers;
  for (int i = 0; i < 5; ++i) {
    faces.push_back(std::make_shared<OfflineFace>());
    auto promise = std::make_shared<std::promise<Answer>>();
    small.engine->submit_offline(
        {.session = 200, .offline = faces.back()},
        [promise](Answer answer) { promise->set_value(std::move(answer)); });
    answers.push_back(promise->get_future());
  }
  for (auto& answer : answers) CHECK(answer.get().outcome == Outcome::made);
  for (const auto& face : faces) CHECK(face->face.values == std::vector<std::uint8_t>{200});
}

TEST_CASE(
    "no session is heard in two lanes at once, and none loses a picture, while batches are "
    "divided") {
  SmallEngine small(2);
  small.device->room = 1;
  std::atomic<int> made = 0, answered = 0;
  constexpr int k_sessions = 6, k_rounds = 100;
  for (int round = 0; round < k_rounds; ++round) {
    for (std::uint64_t session = 1; session <= k_sessions; ++session) {
      small.engine->submit({.session = session, .deadline = InferenceEngine::Clock::now() + 1h},
                           [&](const Answer& answer) {
                             if (answer.outcome == Outcome::made) ++made;
                             ++answered;
                           });
    }
    if (round % 2 == 0) continue;
    small.engine->wait_idle();
    small.engine->warm_up();  // batches may be large again
  }
  small.engine->wait_idle();
  CHECK(answered == k_sessions * k_rounds);
  CHECK(made == k_sessions * k_rounds);
  CHECK(small.device->heard_twice == 0);
}

TEST_CASE(
    "lanes are warmed up with one face and larger batches, up to what the device has memory for") {
  SmallEngine small;
  small.device->room = 5;
  small.engine->warm_up();
  CHECK(small.device->warmed.with([](const auto& all) { return all; }) ==
        std::vector<std::size_t>{1, 2, 4, 8});
  CHECK(small.engine->counters().largest_batch == 4);
  CHECK(small.device->told.with([](const auto& all) { return all; }) ==
        std::vector<std::pair<std::size_t, std::size_t>>{{8, 4}});
  for (auto& answer : small.ask_at_once({1, 2, 3, 4, 5, 6})) answer.get();
  for (const Batch& batch : small.device->batches()) CHECK(batch.size() <= 4);
}

TEST_CASE("lanes without memory for one face are not warm") {
  SmallEngine small;
  small.device->room = 0;
  CHECK_THROWS_WITH(small.engine->warm_up(), "the device is full");
  small.device->room = 8;
  CHECK_NOTHROW(small.engine->warm_up());
  CHECK(small.engine->counters().largest_batch == 8);
}

TEST_CASE("a batch that the device is lost with fails, is not made again, and counts") {
  SmallEngine small;
  small.device->lost = true;
  auto answers = small.ask_at_once({1, 2, 3, 4});
  for (auto& one : answers) CHECK_THROWS_AS(std::rethrow_exception(one.get().problem), DeviceLost);
  small.engine->wait_idle();
  CHECK(small.device->batches().size() == 2);
  CHECK(small.engine->counters().lost == 2);
  CHECK(small.engine->counters().out_of_memory == 0);
}
