// What is played when, on a clock of the test's own.
#include "server/worker/live/playout.h"

#include <catch2/catch.hpp>
#include <cmath>
#include <numbers>

#include "server/worker/live/lips.h"

using namespace navtalk;
using namespace navtalk::server;
using namespace std::chrono_literals;

namespace {

constexpr int k_rate = 16000;
constexpr std::size_t k_slot_samples = 640;

// A loud tone, no two neighbouring samples alike.
std::vector<std::int16_t> tone(std::size_t samples) {
  std::vector<std::int16_t> sound(samples);
  for (std::size_t i = 0; i < samples; ++i) {
    const double phase = 2 * std::numbers::pi * 200 * static_cast<double>(i) / k_rate;
    sound[i] = static_cast<std::int16_t>(8000 * std::sin(phase) + static_cast<double>(i % 7));
  }
  return sound;
}

class Played {
 public:
  explicit Played(int rate_hz = k_rate) : playout(rate_hz) {}

  PlayedSlot next(std::chrono::microseconds length = 40ms) {
    now += length;
    PlayedSlot slot = playout.next(now, length);
    sound.insert(sound.end(), slot.sound.begin(), slot.sound.end());
    return slot;
  }
  bool hear(const std::vector<std::int16_t>& samples) { return playout.hear(samples, now); }

  Playout playout;
  Playout::Clock::time_point now{1h};
  std::vector<std::int16_t> sound{};
};

}  // namespace

TEST_CASE("in silence slots go on, without sound") {
  Played played;
  for (int number = 0; number < 50; ++number) {
    const PlayedSlot slot = played.next();
    CHECK(slot.time == number * 40ms);
    CHECK(slot.sound.empty());
  }
}

TEST_CASE("every sample that comes in goes out again, in order and unchanged") {
  const int rate = GENERATE(8000, 11025, 16000, 44100, 48000, 8001);
  Played played(rate);
  const std::vector<std::int16_t> sound = tone(static_cast<std::size_t>(rate) * 2 + 17);
  SECTION("in small pieces, as a microphone gives them") {
    const std::size_t step = static_cast<std::size_t>(rate) / 50;
    std::size_t sent = 0;
    for (int half = 0; sent < sound.size(); ++half) {
      const std::size_t count = std::min(step, sound.size() - sent);
      played.hear({sound.begin() + static_cast<std::ptrdiff_t>(sent),
                   sound.begin() + static_cast<std::ptrdiff_t>(sent + count)});
      sent += count;
      if (half % 2 == 1) played.next();
    }
  }
  SECTION("all at once, as a synthesiser does") { played.hear(sound); }
  for (int slots = 0; slots < 60; ++slots) played.next();  // the pause ends the utterance
  CHECK(played.sound == sound);
}

TEST_CASE("playing waits until the lips can hear 80 ms ahead, or the utterance is over") {
  Played played;
  played.hear(tone(2 * k_slot_samples));
  CHECK(played.next().sound.empty());
  SECTION("more comes: as much is played as leaves 80 ms, at the end of the slot") {
    played.hear(tone(160));
    const PlayedSlot slot = played.next();
    CHECK(slot.sound.size() == 160);
    CHECK(slot.discontinuity);
    CHECK(slot.sound_time == slot.time + 30ms);
    played.hear(tone(k_slot_samples));
    const PlayedSlot second = played.next();
    CHECK(second.sound.size() == k_slot_samples);
    CHECK(second.sound_time == second.time);
    CHECK_FALSE(second.discontinuity);
    CHECK(played.playout.waiting() == 80ms);
  }
  SECTION("more comes than a slot: it begins with the slot") {
    played.hear(tone(5 * k_slot_samples));
    const PlayedSlot slot = played.next();
    CHECK(slot.sound.size() == k_slot_samples);
    CHECK(slot.sound_time == slot.time);
  }
  SECTION("no more comes") {
    played.playout.end_input();
    CHECK(played.next().sound.size() == k_slot_samples);
  }
}

TEST_CASE("slots may have any length, and their sound goes on") {
  Played played(8001);
  const std::vector<std::int16_t> sound = tone(8001 * 2);
  played.hear(sound);
  played.playout.end_input();
  std::chrono::microseconds time{};
  for (int slots = 0; slots < 50; ++slots) {
    const std::chrono::microseconds length(slots % 3 == 0   ? 40'000
                                           : slots % 3 == 1 ? 50'000
                                                            : 66'667);
    const PlayedSlot slot = played.next(length);
    CHECK(slot.time == time);
    CHECK(slot.length == length);
    time += length;
  }
  CHECK(played.sound == sound);
}

TEST_CASE("sound that stops for 200 ms is played to its end without being told to") {
  Played played;
  played.hear(tone(1000));
  for (int slots = 0; slots < 4; ++slots) CHECK(played.next().sound.empty());
  CHECK(played.next().sound.size() == k_slot_samples);
  CHECK(played.next().sound.size() == 360);
  CHECK(played.next().sound.empty());
}

TEST_CASE("what is near are the slot, with its silence, and 80 ms that follow") {
  Played played;
  const std::vector<std::int16_t> sound = tone(8 * k_slot_samples);
  played.next();
  CHECK(played.playout.near() == std::vector<std::int16_t>(k_slot_samples));
  played.hear({sound.begin(), sound.begin() + 2 * k_slot_samples + 160});
  REQUIRE(played.next().sound.size() == 160);
  std::vector<std::int16_t> near(k_slot_samples - 160);
  near.insert(near.end(), sound.begin(), sound.begin() + 2 * k_slot_samples + 160);
  CHECK(played.playout.near() == near);
  played.hear({sound.begin() + 2 * k_slot_samples + 160, sound.end()});
  REQUIRE(played.next().sound.size() == k_slot_samples);
  CHECK(played.playout.near() ==
        std::vector(sound.begin() + 160, sound.begin() + 160 + 3 * k_slot_samples));
}

TEST_CASE("an interruption forgets what waits, and says so") {
  Played played;
  played.hear(tone(16000));
  for (int slots = 0; slots < 5; ++slots) played.next();
  played.playout.interrupt();
  CHECK(played.playout.waiting() == 0ms);
  const PlayedSlot first = played.next();
  CHECK(first.interrupted);
  CHECK(first.sound.empty());
  CHECK_FALSE(played.next().interrupted);
  SECTION("what comes later is played, and marked") {
    played.hear(tone(3 * k_slot_samples));
    const PlayedSlot slot = played.next();
    CHECK(slot.discontinuity);
    CHECK(slot.sound.size() == k_slot_samples);
    CHECK_FALSE(played.next().discontinuity);
  }
}

TEST_CASE("two minutes may wait, and no more; what found no room is not played") {
  Played played;
  const std::vector<std::int16_t> minute = tone(60 * k_rate);
  CHECK(played.hear(minute));
  CHECK(played.hear(minute));
  CHECK_FALSE(played.hear(tone(1)));
  CHECK(played.playout.waiting() == 120s);
  played.next();
  CHECK(played.hear(tone(1)));
}

TEST_CASE("lips hear at most four seconds of the past, the slot's own sound, and what is known") {
  Played played;
  const std::vector<std::int16_t> sound = tone(10 * k_rate);
  played.hear(sound);
  played.next();
  SoundWindow heard = played.playout.sound();
  CHECK(heard.first == 0);
  CHECK(heard.begin == 0);
  CHECK(heard.samples.size() == 11 * k_slot_samples);
  for (int slots = 1; slots < 120; ++slots) played.next();
  heard = played.playout.sound();
  CHECK(heard.first == 100 * k_slot_samples);
  CHECK(heard.begin == 19 * static_cast<std::int64_t>(k_slot_samples));
  const auto own = sound.begin() + 119 * static_cast<std::ptrdiff_t>(k_slot_samples);
  CHECK(std::equal(own, own + k_slot_samples,
                   heard.samples.begin() + static_cast<std::ptrdiff_t>(heard.first)));
  CHECK(std::equal(own - 64000, own, heard.samples.begin()));
}

TEST_CASE("slots that begin at another time play the same sound") {
  Played played;
  constexpr auto k_begin = 3h + 17us;
  played.playout = Playout(k_rate, k_begin);
  const std::vector<std::int16_t> sound = tone(5 * k_slot_samples + 3);
  REQUIRE(played.hear(sound));
  played.playout.end_input();
  for (int number = 0; number < 10; ++number) {
    CHECK(played.next().time == k_begin + number * 40ms);
    const SoundWindow window = played.playout.sound();
    CHECK(window.first <= window.samples.size());
  }
  CHECK(played.sound == sound);
}

TEST_CASE("what waits is kept through a pause, and goes on after it with a gap") {
  Played played;
  const std::vector<std::int16_t> sound = tone(20 * k_slot_samples);
  REQUIRE(played.hear(sound));
  played.playout.end_input();
  for (int slots = 0; slots < 5; ++slots) played.next();
  played.playout.pause(true);
  const std::size_t before = played.sound.size();
  for (int slots = 0; slots < 100; ++slots) CHECK(played.next().sound.empty());
  played.playout.pause(false);
  CHECK(played.next().discontinuity);
  for (int slots = 0; slots < 30; ++slots) played.next();
  CHECK(before < sound.size());
  CHECK(played.sound == sound);
}

TEST_CASE("an hour of silence is played as it comes, with lips at rest, and nothing of it stays") {
  Played played;
  Lips lips(k_rate);
  const std::vector<std::int16_t> silence(k_slot_samples);
  for (int slots = 0; slots < 3600 * 25; ++slots) {
    REQUIRE(played.hear(silence));
    PlayedSlot slot = played.next();
    lips.follow(slot, played.playout.near());
    if (slot.lips > 0 || slot.speaks || slot.speech_starts) FAIL("silence speaks");
  }
  CHECK(played.sound.size() + 4 * k_slot_samples >= silence.size() * 3600 * 25);
  CHECK(played.playout.waiting() <= 200ms);
}
