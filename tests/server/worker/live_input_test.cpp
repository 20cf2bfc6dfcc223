// Texts that take longer to play than may wait, played as fast as a test likes.
#include "server/worker/live/live_input.h"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>

#include "tests/server/worker/live_worker.h"

using namespace navtalk;
using namespace navtalk::server;
using namespace navtalk::tests;
using namespace std::chrono_literals;
namespace asio = boost::asio;

namespace {

// An input whose socket says nothing, and what it plays.
class PlayedInput {
 public:
  PlayedInput() {
    asio::co_spawn(io_, open(), asio::detached);
    // The socket reads and writes from then on, so that run() would not return.
    for (int tries = 0; tries < 1000 && !socket_; ++tries) io_.run_one_for(20ms);
    REQUIRE(socket_);
    input_.emplace(io_.get_executor(), *socket_, threads_, avatar_, playout_, counters);
    asio::co_spawn(io_, input_->run(), [this](const std::exception_ptr&) { over_ = true; });
  }
  ~PlayedInput() {
    input_->stop();
    for (int tries = 0; tries < 1000 && !over_; ++tries) io_.run_one_for(20ms);
    CHECK(over_);
  }
  LiveInput& input() { return *input_; }
  NetsScript& script() { return script_; }
  // Until so many samples were played, or none for that time; returns what was played.
  std::vector<std::int16_t> play(std::size_t samples, Playout::Clock::duration patience = 20s) {
    std::vector<std::int16_t> all;
    auto until = Playout::Clock::now() + patience;
    while (all.size() < samples && Playout::Clock::now() < until) {
      const PlayedSlot slot = playout_.next(Playout::Clock::now(), 1s);
      if (slot.sound.empty()) {
        io_.run_for(20ms);
      } else {
        all.insert(all.end(), slot.sound.begin(), slot.sound.end());
        until = Playout::Clock::now() + patience;
      }
    }
    return all;
  }

  LiveCounters counters{};

 private:
  asio::awaitable<void> open() {
    WebSocket::Declined declined;
    const std::string url = worker_.url();
    const WebSocket::Address address{.host = "127.0.0.1",
                                     .port = url.substr(url.rfind(':') + 1),
                                     .target = "/v1/session?lease=a&epoch=1"};
    socket_ = co_await WebSocket::connect(address, {}, declined);
  }

  LiveWorker worker_;
  NetsScript script_;
  asio::io_context io_;
  BlockingThreads threads_{1};
  std::shared_ptr<LiveAvatar> avatar_ = std::make_shared<ScriptedAvatar>(script_);
  Playout playout_{16'000};
  std::unique_ptr<WebSocket> socket_;
  std::optional<LiveInput> input_;
  bool over_ = false;
};

}  // namespace

TEST_CASE("a text of more than two minutes is played whole, and what comes behind it") {
  PlayedInput played;
  const std::string text(2'600, 'x');  // 162.5 s
  played.input().say({.text = text, .voice = "slow"});
  played.input().hear(bytes_of(std::vector<std::int16_t>(8'000, std::int16_t{7})));
  played.input().end_input();
  std::vector<std::int16_t> expected(2'600'000, std::int16_t{1234});
  expected.insert(expected.end(), 8'000, std::int16_t{7});
  const bool whole = played.play(expected.size()) == expected;
  CHECK(whole);
  CHECK(played.counters.overflows == 0);
}

TEST_CASE("of a text of more than ten minutes the first ten are played, and what comes behind it") {
  PlayedInput played;
  played.input().say({.text = std::string(9'602, 'x'), .voice = "slow"});
  played.input().hear(bytes_of(std::vector<std::int16_t>(800, std::int16_t{7})));
  std::vector<std::int16_t> expected(9'600'000, std::int16_t{1234});
  expected.insert(expected.end(), 800, std::int16_t{7});
  const bool first_ten = played.play(expected.size()) == expected;
  CHECK(first_ten);
  CHECK(played.counters.overflows == 1);
}

TEST_CASE("a text is played while the rest of it is being made") {
  PlayedInput played;
  played.input().say({.text = std::string(250, 'x'), .voice = "paused"});
  played.input().hear(bytes_of(std::vector<std::int16_t>(800, std::int16_t{7})));
  CHECK(played.play(16'000) == std::vector<std::int16_t>(16'000, std::int16_t{1234}));
  played.script().goes_on.release(2);
  std::vector<std::int16_t> rest(9'000, std::int16_t{1234});
  rest.insert(rest.end(), 800, std::int16_t{7});
  CHECK(played.play(rest.size()) == rest);
}

TEST_CASE("an interruption ends a text that is still being made, and the next one is spoken") {
  PlayedInput played;
  played.input().say({.text = std::string(250, 'x'), .voice = "paused"});
  CHECK(played.play(16'000).size() == 16'000);
  played.input().interrupt();
  played.input().say({.text = "hello"});
  played.script().goes_on.release(2);
  CHECK(played.play(500) == std::vector<std::int16_t>(500, std::int16_t{1234}));
  CHECK(played.play(1, 300ms).empty());
}

TEST_CASE("an interruption forgets what waits of a long text") {
  PlayedInput played;
  played.input().say({.text = std::string(2'600, 'x'), .voice = "slow"});
  CHECK(played.play(16'000).size() >= 16'000);
  played.input().interrupt();
  CHECK(played.play(1, 300ms).empty());
  played.input().say({.text = "hello"});
  CHECK(played.play(500).size() == 500);
}

TEST_CASE("sound in many small frames waits behind a text as sound in large ones does") {
  PlayedInput played;
  played.input().say({.text = "hello"});
  std::vector<std::int16_t> expected(500, std::int16_t{1234});
  for (std::int16_t i = 0; i < 12'000; ++i) {
    const std::vector<std::int16_t> frame(128, i);  // 96 s in all
    played.input().hear(bytes_of(frame));
    expected.insert(expected.end(), frame.begin(), frame.end());
  }
  CHECK(played.counters.overflows == 0);
  const bool whole = played.play(expected.size()) == expected;
  CHECK(whole);
}

TEST_CASE("behind a text 120 s of sound wait, at the session's own rate") {
  PlayedInput played;
  played.input().say({.text = "hello"});
  const std::string second = bytes_of(std::vector<std::int16_t>(16'000, std::int16_t{7}));
  for (int i = 0; i < 120; ++i) played.input().hear(second);
  CHECK(played.counters.overflows == 0);
  played.input().hear(second);
  CHECK(played.counters.overflows == 1);
  const std::size_t all = 500 + std::size_t{120} * 16'000;
  CHECK(played.play(all).size() == all);
}
