// When lips follow a session's sound, on a clock of the test's own.
#include "server/worker/live/lips.h"

#include <catch2/catch.hpp>
#include <cmath>
#include <numbers>

#include "tests/synthetic_voice.h"

using namespace navtalk;
using namespace navtalk::server;
using namespace navtalk::tests;
using namespace std::chrono_literals;

namespace {

constexpr int k_rate = 16000;
constexpr std::size_t k_slot_samples = 640;

class Session {
 public:
  explicit Session(int rate_hz = k_rate) : playout(rate_hz), lips(rate_hz) {}

  PlayedSlot next(std::chrono::microseconds length = 40ms) {
    now += length;
    PlayedSlot slot = playout.next(now, length);
    lips.follow(slot, playout.near());
    return slot;
  }
  bool hear(const std::vector<std::int16_t>& samples) { return playout.hear(samples, now); }

  Playout playout;
  Lips lips;
  Playout::Clock::time_point now{1h};
};

// Silence, a voice in so many slots from `first` on, silence.
std::vector<std::int16_t> said(std::size_t first, std::size_t slots) {
  std::vector<std::int16_t> sound(first * k_slot_samples);
  const auto voice = synthetic_voice(slots * k_slot_samples);
  sound.insert(sound.end(), voice.begin(), voice.end());
  sound.resize(sound.size() + 20 * k_slot_samples);
  return sound;
}

}  // namespace

TEST_CASE("in silence lips rest") {
  Session session;
  for (int number = 0; number < 50; ++number) {
    const PlayedSlot slot = session.next();
    CHECK(slot.lips == 0);
    CHECK_FALSE(slot.speaks);
  }
}

TEST_CASE("lips open as a voice begins and rest after it, in steps") {
  constexpr int k_first = 8, k_slots = 20;
  Session session;
  session.hear(said(k_first, k_slots));
  std::vector<float> lips;
  int starts = -1, ends = -1;
  for (int number = 0; number < 48; ++number) {
    const PlayedSlot slot = session.next();
    lips.push_back(slot.lips);
    if (slot.speech_starts) starts = number;
    if (slot.speech_ends) ends = number;
    CHECK(slot.speaks == (starts >= 0 && ends < 0));
  }
  CHECK(starts >= k_first - 2);
  CHECK(starts <= k_first + 1);
  CHECK(lips[k_first - 3] == 0);
  CHECK(lips[k_first + 3] == Approx(1));
  // 320 ms after the voice, which fades for a moment.
  CHECK(ends >= k_first + k_slots + 7);
  CHECK(ends <= k_first + k_slots + 14);
  CHECK(lips.back() == 0);
  for (std::size_t i = 1; i < lips.size(); ++i) CHECK(std::abs(lips[i] - lips[i - 1]) < 0.34F);
}

TEST_CASE("the detector hears each sample once, 80 ms ahead of the slot") {
  const std::vector<std::int16_t> sound = said(8, 20);
  Session session;
  session.hear(sound);
  SpeechDetector detector(k_rate);
  std::size_t heard = 0;
  for (std::size_t number = 0; number < 44; ++number) {
    const PlayedSlot slot = session.next();
    const std::size_t known = (number + 3) * k_slot_samples;
    detector.hear(std::span(sound).subspan(heard, known - heard));
    heard = known;
    CAPTURE(number);
    CHECK(slot.speaks == (detector.last_speech() && slot.time <= *detector.last_speech() + 320ms));
  }
}

TEST_CASE("lips rest at a tone and at noise, however loud, and follow a voice that comes after") {
  std::vector<std::int16_t> sound(4 * k_rate);
  std::uint32_t noise = 1;
  const bool tone = GENERATE(true, false);
  for (std::size_t i = 0; i < sound.size(); ++i) {
    const double phase = 2 * std::numbers::pi * 440 * static_cast<double>(i) / k_rate;
    noise = noise * 1664525U + 1013904223U;
    sound[i] = static_cast<std::int16_t>(tone ? 8000 * std::sin(phase) : (noise >> 16U) % 3000);
  }
  const auto voice = synthetic_voice(k_rate);
  sound.insert(sound.end(), voice.begin(), voice.end());
  Session session;
  session.hear(sound);
  int before = 0, during = 0;
  for (int number = 0; number < 125; ++number) {
    const bool moves = session.next().lips > 0;
    (number < 97 ? before : during) += moves ? 1 : 0;
  }
  CHECK(before == 0);
  CHECK(during > 20);
}

TEST_CASE("an interruption stills the lips within two slots") {
  Session session;
  session.hear(synthetic_voice(2 * k_rate));
  for (int slots = 0; slots < 20; ++slots) session.next();
  REQUIRE(session.next().lips == 1);
  session.playout.interrupt();
  const PlayedSlot first = session.next();
  CHECK(first.speech_ends);
  CHECK(first.lips == Approx(0.5));
  const PlayedSlot second = session.next();
  CHECK(second.lips == 0);
  session.hear(synthetic_voice(k_rate));
  int starts = 0;
  for (int slots = 0; slots < 25; ++slots) starts += session.next().speech_starts ? 1 : 0;
  CHECK(starts == 1);
}

TEST_CASE("lips rest while nobody listens, and go on with what waits") {
  Session session;
  session.hear(synthetic_voice(4 * k_rate));
  for (int slots = 0; slots < 20; ++slots) session.next();
  session.playout.pause(true);
  for (int slots = 0; slots < 30; ++slots) session.next();
  CHECK(session.next().lips == 0);
  session.playout.pause(false);
  for (int slots = 0; slots < 8; ++slots) session.next();
  CHECK(session.next().lips == 1);
}

TEST_CASE("lips do not depend on how the sound comes, at any rate of pictures and samples") {
  const int rate = GENERATE(8000, 16000, 44100, 48000);
  const std::chrono::microseconds length = GENERATE(40'000us, 66'667us);
  const auto voice = synthetic_voice(static_cast<std::size_t>(rate), rate);
  std::vector<std::int16_t> sound(static_cast<std::size_t>(rate) / 2);
  sound.insert(sound.end(), voice.begin(), voice.end());
  sound.resize(sound.size() + static_cast<std::size_t>(rate));
  const auto moved = [&](std::size_t piece) {
    Session session(rate);
    std::vector<float> lips;
    std::size_t sent = 0;
    for (int slots = 0; slots < 40; ++slots) {
      // Always as much as is heard ahead.
      const auto wanted = static_cast<std::size_t>((slots + 5) * length.count() * rate / 1'000'000);
      while (sent < std::min(wanted, sound.size())) {
        const std::size_t end = std::min(sent + piece, sound.size());
        session.hear({sound.begin() + static_cast<std::ptrdiff_t>(sent),
                      sound.begin() + static_cast<std::ptrdiff_t>(end)});
        sent = end;
      }
      lips.push_back(session.next(length).lips);
    }
    return lips;
  };
  const auto whole = moved(sound.size());
  CHECK(*std::ranges::max_element(whole) == 1);
  CHECK(moved(static_cast<std::size_t>(rate) / 50) == whole);
  CHECK(moved(77) == whole);
}
