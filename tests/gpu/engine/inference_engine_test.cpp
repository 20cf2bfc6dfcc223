// The engine's thread with a backend of the test's own, which works when it is told to.
#include "gpu/engine/inference_engine.h"

#include <catch2/catch.hpp>
#include <future>
#include <semaphore>
#include <thread>

#include "core/base/error.h"
#include "core/base/guarded.h"

using namespace navtalk;
using namespace std::chrono_literals;

namespace {

using Outcome = InferenceEngine::Outcome;
using Batches = std::vector<std::vector<std::uint64_t>>;

// Its pictures are as wide as their session's number.
class SteppedBackend : public EngineBackend {
 public:
  Made make(std::span<const PictureRequest> batch, const std::function<void()>&) override {
    std::vector<std::uint64_t> sessions;
    for (const PictureRequest& request : batch) sessions.push_back(request.session);
    batches.with([&](Batches& all) { all.push_back(sessions); });
    begun.release();
    if (held) go.acquire();
    if (breaks) throw Error(Code::failed, "the device is lost");
    Made made{.features = 1ms};
    for (const std::uint64_t session : sessions) {
      made.pictures.emplace_back([session] { return I420Picture(static_cast<int>(session), 2); });
    }
    if (forgets) made.pictures.pop_back();
    return made;
  }

  std::atomic<bool> held = false, breaks = false, forgets = false;
  std::counting_semaphore<> begun{0}, go{0};
  Guarded<Batches> batches;
};

class Tried {
 public:
  std::future<InferenceEngine::Answer> ask(std::uint64_t session,
                                           std::chrono::milliseconds due = 1h) {
    auto promise = std::make_shared<std::promise<InferenceEngine::Answer>>();
    engine->submit(
        {.session = session, .deadline = InferenceEngine::Clock::now() + due},
        [promise](InferenceEngine::Answer answer) { promise->set_value(std::move(answer)); });
    return promise->get_future();
  }
  // A batch runs, and stays until `backend->go`.
  std::future<InferenceEngine::Answer> occupy(std::uint64_t session) {
    backend->held = true;
    auto answer = ask(session);
    backend->begun.acquire();
    return answer;
  }
  Batches batches() {
    return backend->batches.with([](const Batches& all) { return all; });
  }

  std::shared_ptr<SteppedBackend> backend = std::make_shared<SteppedBackend>();
  std::unique_ptr<InferenceEngine> engine = std::make_unique<InferenceEngine>(backend);
};

}  // namespace

TEST_CASE("a request is answered with the picture of its own session") {
  Tried tried;
  auto first = tried.ask(2), second = tried.ask(4);
  InferenceEngine::Answer answer = second.get();
  CHECK(answer.outcome == Outcome::made);
  CHECK(on_host(answer.picture()).width == 4);
  CHECK(on_host(first.get().picture()).width == 2);
  tried.engine->wait_idle();
  const EngineCounters counters = tried.engine->counters();
  CHECK(counters.made == 2);
  CHECK(counters.features >= 1ms);
}

TEST_CASE("what is asked for while a batch runs is the next batch") {
  Tried tried;
  auto running = tried.occupy(1);
  std::vector<std::future<InferenceEngine::Answer>> waiting;
  for (const std::uint64_t session : {2, 3, 4}) waiting.push_back(tried.ask(session));
  tried.backend->held = false;
  tried.backend->go.release();
  for (auto& answer : waiting) CHECK(answer.get().outcome == Outcome::made);
  CHECK(running.get().outcome == Outcome::made);
  CHECK(tried.batches().at(0) == std::vector<std::uint64_t>{1});
  CHECK(tried.batches().at(1).size() == 3);
}

TEST_CASE("a request that waited beyond its deadline is answered as late, without the nets") {
  Tried tried;
  auto running = tried.occupy(1);
  auto late = tried.ask(2, -1ms);
  auto other = tried.ask(3);
  tried.backend->held = false;
  tried.backend->go.release();
  CHECK(late.get().outcome == Outcome::late);
  CHECK(other.get().outcome == Outcome::made);
  tried.engine->wait_idle();
  CHECK(tried.engine->counters().late == 1);
  for (const auto& batch : tried.batches()) CHECK(std::ranges::count(batch, 2U) == 0);
}

TEST_CASE("a session beyond its bound is refused at once, others are not") {
  Tried tried;
  auto running = tried.occupy(1);
  std::vector<std::future<InferenceEngine::Answer>> waiting;
  for (int i = 0; i < 4; ++i) waiting.push_back(tried.ask(2));
  CHECK(tried.ask(2).get().outcome == Outcome::crowded);
  waiting.push_back(tried.ask(3));
  tried.backend->held = false;
  tried.backend->go.release();
  for (auto& answer : waiting) CHECK(answer.get().outcome == Outcome::made);
}

TEST_CASE("cancelling answers what waits at once, and what runs as cancelled") {
  Tried tried;
  auto running = tried.occupy(1);
  auto waiting = tried.ask(1), other = tried.ask(2);
  tried.engine->cancel(1);
  CHECK(waiting.get().outcome == Outcome::cancelled);
  auto after = tried.ask(1);  // what it asks for later is not meant
  tried.backend->held = false;
  tried.backend->go.release();
  CHECK(running.get().outcome == Outcome::cancelled);
  CHECK(other.get().outcome == Outcome::made);
  CHECK(after.get().outcome == Outcome::made);
}

TEST_CASE("an error of the nets goes to those who asked, and the engine goes on") {
  Tried tried;
  const bool throws = GENERATE(true, false);
  tried.backend->breaks = throws;
  tried.backend->forgets = !throws;
  const InferenceEngine::Answer answer = tried.ask(1).get();
  CHECK(answer.outcome == Outcome::failed);
  CHECK_THROWS_AS(std::rethrow_exception(answer.problem), Error);
  tried.backend->breaks = tried.backend->forgets = false;
  CHECK(tried.ask(1).get().outcome == Outcome::made);
}

TEST_CASE("the end of an engine waits for its batch, and cancels what waits") {
  Tried tried;
  auto running = tried.occupy(1);
  auto waiting = tried.ask(2);
  auto over = std::async(std::launch::async, [&] { tried.engine.reset(); });
  tried.backend->held = false;
  tried.backend->go.release();
  over.get();
  CHECK(running.get().outcome == Outcome::made);
  const Outcome outcome = waiting.get().outcome;
  CHECK((outcome == Outcome::cancelled || outcome == Outcome::made));
}

TEST_CASE("a backend that hangs makes no heartbeat, an idle engine does") {
  Tried tried;
  auto running = tried.occupy(1);
  while (tried.engine->since_heartbeat() < 400ms) std::this_thread::yield();
  tried.backend->held = false;
  tried.backend->go.release();
  running.get();
  while (tried.engine->since_heartbeat() > 300ms) std::this_thread::yield();
  CHECK(tried.engine->counters().batches == 1);
}

TEST_CASE("many threads ask, cancel and are all answered once") {
  Tried tried;
  std::atomic<int> answered = 0;
  constexpr int k_threads = 4, k_requests = 200;
  {
    std::vector<std::jthread> threads;
    for (int number = 1; number <= k_threads; ++number) {
      threads.emplace_back([&, number] {
        for (int i = 0; i < k_requests; ++i) {
          tried.engine->submit({.session = static_cast<std::uint64_t>(number),
                                .deadline = InferenceEngine::Clock::now() + 1h},
                               [&answered](InferenceEngine::Answer) { ++answered; });
          if (i % 50 == 49) tried.engine->cancel(static_cast<std::uint64_t>(number));
        }
      });
    }
  }
  tried.engine->wait_idle();
  CHECK(answered == k_threads * k_requests);
}
