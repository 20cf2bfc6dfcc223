// Which requests make a batch, on a clock of the test's own.
#include "gpu/engine/request_queue.h"

#include <catch2/catch.hpp>

using namespace navtalk;
using namespace std::chrono_literals;

namespace {

using Clock = RequestQueue::Clock;

struct Asked {
  RequestQueue queue;
  Clock::time_point now{1h};
  std::vector<std::uint64_t> last{};

  explicit Asked(QueueLimits limits = {}) : queue(limits) {}

  bool add(std::uint64_t session, Clock::duration due = 80ms) {
    return queue.add({.session = session, .deadline = now + due}, now).has_value();
  }
  // The sessions of the next batch, in order; the batch before it is over.
  std::vector<std::uint64_t> batch() {
    for (const std::uint64_t session : last) queue.release(session);
    return last = beside();
  }
  // The same, while others run.
  std::vector<std::uint64_t> beside() { return sessions(queue.take_batch(now)); }
  std::vector<std::uint64_t> late() { return sessions(queue.take_late(now)); }

  static std::vector<std::uint64_t> sessions(const std::vector<RequestQueue::Waiting>& taken) {
    std::vector<std::uint64_t> numbers;
    for (const RequestQueue::Waiting& one : taken) numbers.push_back(one.request.session);
    return numbers;
  }
};

using Sessions = std::vector<std::uint64_t>;

}  // namespace

TEST_CASE("a session alone waits for nobody") {
  Asked asked;
  CHECK_FALSE(asked.queue.closes(asked.now));
  CHECK(asked.batch().empty());
  asked.add(1);
  CHECK(asked.queue.closes(asked.now) == asked.now);
  CHECK(asked.batch() == Sessions{1});
  CHECK(asked.queue.size() == 0);
}

TEST_CASE("a batch waits for sessions that are expected to ask, for 4 ms at most") {
  Asked asked;
  asked.add(1);
  asked.add(2);
  CHECK(asked.batch() == Sessions{1, 2});
  asked.now += 40ms;
  asked.add(1);
  CHECK(asked.batch().empty());
  CHECK(asked.queue.closes(asked.now) == asked.now + 4ms);
  SECTION("the other one asks") {
    asked.now += 1ms;
    asked.add(2);
    CHECK(asked.batch() == Sessions{1, 2});
  }
  SECTION("the other one is late") {
    asked.now += 4ms;
    CHECK(asked.batch() == Sessions{1});
  }
  SECTION("the other one has stopped asking") {
    asked.now += 40ms;
    asked.batch();
    asked.now += 40ms;
    asked.add(1);
    CHECK(asked.batch() == Sessions{1});
  }
  SECTION("the other one is over") {
    asked.queue.take_session(2);
    CHECK(asked.batch() == Sessions{1});
  }
}

TEST_CASE("a batch does not wait for a session whose next request is not due within it") {
  Asked asked;
  asked.add(1);
  CHECK(asked.batch() == Sessions{1});
  asked.now += 20ms;
  asked.add(2);
  CHECK(asked.batch() == Sessions{2});
  SECTION("by its own interval") {
    asked.queue.take_session(2);
    asked.now += 46ms;
    asked.add(1);  // after 66 ms
    asked.batch();
    asked.now += 40ms;
    asked.add(3);
    CHECK(asked.batch() == Sessions{3});
    asked.now += 24ms;
    asked.add(3);
    CHECK(asked.batch().empty());  // 1 is due in 2 ms
  }
}

TEST_CASE("a full batch closes at once, and holds no more than its size") {
  Asked asked({.batch = 8});
  asked.add(99);
  asked.batch();
  asked.now += 40ms;  // it is expected now
  for (std::uint64_t session = 1; session <= 7; ++session) asked.add(session);
  CHECK(asked.batch().empty());
  asked.add(8);
  asked.add(9);
  CHECK(asked.batch().size() == 8);
  CHECK(asked.queue.size() == 1);
}

TEST_CASE("the earliest deadline comes first, whoever asked first") {
  Asked asked({.batch = 2});
  asked.add(1, 90ms);
  asked.add(2, 50ms);
  asked.add(3, 70ms);
  CHECK(asked.batch() == Sessions{2, 3});
  CHECK(asked.batch() == Sessions{1});
}

TEST_CASE("equal deadlines keep the order in which they came") {
  Asked asked({.batch = 2});
  for (const std::uint64_t session : {5, 3, 4}) asked.add(session, 60ms);
  CHECK(asked.batch() == Sessions{5, 3});
}

TEST_CASE("a session that is behind has one request in a batch before any has two") {
  Asked asked({.batch = 3});
  // The pictures that session 1 is behind with have the earliest deadlines of all.
  for (const auto due : {1ms, 2ms, 3ms}) asked.add(1, due);
  asked.add(2, 80ms);
  asked.add(3, 90ms);
  CHECK(asked.batch() == Sessions{1, 2, 3});
  CHECK(asked.batch() == Sessions{1, 1});
}

TEST_CASE("the requests of a session keep their order, whatever their deadlines") {
  Asked asked({.batch = 1});
  asked.add(1, 90ms);
  asked.add(1, 10ms);
  const auto first = asked.queue.take_batch(asked.now);
  REQUIRE(first.size() == 1);
  CHECK(first[0].request.deadline == asked.now + 90ms);
}

TEST_CASE("a session may have four requests that wait, and others are not bound by that") {
  Asked asked;
  for (int i = 0; i < 4; ++i) CHECK(asked.add(1));
  CHECK_FALSE(asked.add(1));
  CHECK(asked.add(2));
  CHECK(asked.queue.size() == 5);
  asked.batch();
  CHECK(asked.add(1));
}

TEST_CASE("a request whose deadline is over is left out, the others of its session stay") {
  Asked asked;
  asked.add(1, 10ms);
  asked.add(1, 50ms);
  asked.add(2, 20ms);
  asked.now += 30ms;
  CHECK(asked.late() == Sessions{1, 2});
  CHECK(asked.late().empty());
  CHECK(asked.batch() == Sessions{1});
}

TEST_CASE("cancelling takes what waits of one session only") {
  Asked asked;
  asked.add(1);
  asked.add(2);
  asked.add(1);
  CHECK(Asked::sessions(asked.queue.take_session(1)) == Sessions{1, 1});
  CHECK(asked.queue.take_session(1).empty());
  CHECK(asked.batch() == Sessions{2});
}

TEST_CASE("twenty sessions that ask at once are all in the next three batches") {
  Asked asked;
  for (std::uint64_t session = 1; session <= 20; ++session) asked.add(session);
  std::vector<std::size_t> sizes;
  for (int batches = 0; batches < 3; ++batches) sizes.push_back(asked.batch().size());
  CHECK(asked.queue.size() == 0);
  CHECK(sizes == std::vector<std::size_t>{8, 8, 4});
}

TEST_CASE("of a session that is held nothing is taken until it is released, but what is late") {
  Asked asked({.batch = 1});
  asked.add(1);
  asked.add(1, 10ms);
  asked.add(1);
  asked.add(2, 1h);
  CHECK(asked.beside() == Sessions{1});
  CHECK(asked.beside() == Sessions{2});
  CHECK(asked.beside().empty());
  CHECK_FALSE(asked.queue.closes(asked.now));
  CHECK(asked.queue.size() == 2);
  asked.now += 11ms;
  CHECK(asked.late() == Sessions{1});
  asked.queue.release(2);
  CHECK(asked.beside().empty());
  asked.queue.release(1);
  CHECK(asked.queue.closes(asked.now) == asked.now);
  CHECK(asked.beside() == Sessions{1});
}

TEST_CASE("an interrupted session that asks again stays held") {
  Asked asked({.batch = 1});
  asked.add(1);
  CHECK(asked.beside() == Sessions{1});
  asked.queue.take_session(1);
  asked.add(1);
  CHECK(asked.beside().empty());
  asked.queue.release(1);
  CHECK(asked.beside() == Sessions{1});
}

namespace {

std::optional<RequestQueue::Ticket> add_offline(Asked& asked, std::uint64_t job) {
  return asked.queue.add_offline({.session = job, .offline = std::make_shared<OfflineFace>()},
                                 asked.now);
}

}  // namespace

TEST_CASE("faces of jobs are in no batch of sessions, and closes() does not know them") {
  Asked asked;
  CHECK(add_offline(asked, 10));
  CHECK(asked.batch().empty());
  CHECK_FALSE(asked.queue.closes(asked.now));
  CHECK(asked.queue.size() == 1);
  asked.add(1);
  CHECK(asked.batch() == Sessions{1});
  CHECK(Asked::sessions(asked.queue.take_offline(8)) == Sessions{10});
  CHECK(asked.queue.size() == 0);
}

TEST_CASE("jobs have their turns, whatever one of them asks for") {
  Asked asked;
  for (const std::uint64_t job : {10, 10, 10, 11, 12}) add_offline(asked, job);
  CHECK(Asked::sessions(asked.queue.take_offline(2)) == Sessions{10, 11});
  CHECK(Asked::sessions(asked.queue.take_offline(2)) == Sessions{12, 10});
  CHECK(Asked::sessions(asked.queue.take_offline(2)) == Sessions{10});
}

TEST_CASE("a job has a bound of its own, and its end leaves the others what they asked for") {
  Asked asked({.per_job = 2});
  CHECK(add_offline(asked, 10));
  CHECK(add_offline(asked, 10));
  CHECK_FALSE(add_offline(asked, 10));
  CHECK(add_offline(asked, 11));
  CHECK(asked.queue.take_job(10).size() == 2);
  CHECK(asked.queue.take_job(10).empty());
  CHECK(asked.queue.offline() == 1);
  CHECK(asked.queue.take_all().size() == 1);
  CHECK(asked.queue.size() == 0);
}

TEST_CASE("sessions are expected at their pace, until they are quiet") {
  Asked asked;
  asked.add(1);
  asked.now += 50ms;
  asked.add(1);
  asked.batch();
  asked.batch();
  const auto in = [&](std::chrono::milliseconds time) { return asked.now + time; };
  using Times = std::vector<Clock::time_point>;
  CHECK(asked.queue.expected(asked.now, in(120ms)) == Times{in(50ms), in(100ms)});
  asked.now += 60ms;
  CHECK(asked.queue.expected(asked.now, in(20ms)) == Times{asked.now});  // it is late
  asked.now += 20ms;
  CHECK(asked.queue.expected(asked.now, in(20ms)).empty());
  CHECK(asked.queue.has_sessions(asked.now));
  asked.now += 10s;
  CHECK_FALSE(asked.queue.has_sessions(asked.now));
  asked.add(2);
  CHECK(asked.queue.expected(asked.now, asked.now) == Times{asked.now});
}
