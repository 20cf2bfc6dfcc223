// Eight hours of one session on a virtual clock, with a client whose clock is not the worker's.
#include <catch2/catch.hpp>
#include <cmath>
#include <cstdlib>

#include "server/worker/live/playout.h"

using namespace navtalk::server;
using namespace std::chrono_literals;

namespace {

using Seconds = std::chrono::duration<double>;

constexpr int k_rate_hz = 8000;
constexpr std::chrono::milliseconds k_message{20}, k_picture{40};
constexpr std::size_t k_message_samples = 160;

// The n-th sample that a client sends: no two neighbours alike, loud.
std::int16_t sample_of(std::uint64_t number) {
  return static_cast<std::int16_t>(4000 + number % 8191);
}

// A client that sends a message whenever its own clock says so, without a pause.
class Microphone {
 public:
  // `ppm`: by how much its clock is too fast.
  explicit Microphone(double ppm) : pace_(1 + ppm / 1e6) {}

  void send_until(Seconds now, Playout& playout, Playout::Clock::time_point arrival) {
    while (sent_at(sent_ + k_message_samples) <= now) {
      std::vector<std::int16_t> message(k_message_samples);
      for (std::int16_t& sample : message) sample = sample_of(sent_++);
      taken_ = playout.hear(message, arrival) && taken_;
    }
  }
  bool all_taken() const { return taken_; }
  // When the sample before that one was heard, and its message sent, on the worker's clock.
  Seconds sent_at(std::uint64_t sample) const {
    return Seconds(static_cast<double>(sample) / k_rate_hz / pace_);
  }

 private:
  double pace_;
  std::uint64_t sent_ = 0;
  bool taken_ = true;
};

struct Heard {
  std::uint64_t samples = 0, pauses = 0;
  bool all_taken = false, in_order = true;
  Seconds first_delay{}, last_delay{}, most_delay{};  // from sending to presentation
};

Heard eight_hours(double ppm) {
  Playout playout(k_rate_hz);
  Microphone microphone(ppm);
  Heard heard;
  const Playout::Clock::time_point begin{1h};
  for (std::chrono::milliseconds time = 0ms; time < 8h; time += k_picture) {
    microphone.send_until(time, playout, begin + time);
    const PlayedSlot slot = playout.next(begin + time, k_picture);
    if (slot.sound.empty()) continue;
    if (slot.discontinuity) ++heard.pauses;
    const Seconds delay = Seconds(slot.sound_time) - microphone.sent_at(heard.samples);
    if (heard.samples == 0) heard.first_delay = delay;
    heard.last_delay = delay;
    heard.most_delay = std::max(heard.most_delay, delay);
    for (const std::int16_t sample : slot.sound)
      heard.in_order = heard.in_order && sample == sample_of(heard.samples++);
  }
  heard.all_taken = microphone.all_taken();
  return heard;
}

}  // namespace

TEST_CASE("for eight hours a client with a slow clock is heard whole, without growing delay") {
  const Heard heard = eight_hours(-100);
  CHECK(heard.all_taken);
  CHECK(heard.in_order);
  CHECK(heard.samples > 8 * 3600 * (k_rate_hz - 1) - k_rate_hz);
  // What its clock loses, 2.88 s, is made up by pauses of some slots.
  CHECK(heard.pauses > 1);
  CHECK(heard.pauses < 100);
  CHECK(heard.most_delay < heard.first_delay + 200ms);
}

namespace {

// Sentences of three seconds, with pauses of half a second between them in which a quiet room is heard.
std::int16_t spoken_sample(std::uint64_t number) {
  constexpr std::uint64_t k_sentence = 24'000, k_both = 28'000;
  if (number % k_both < k_sentence) return sample_of(number);
  return static_cast<std::int16_t>(static_cast<int>(number * 2654435761U >> 16 & 63) - 32);
}

struct Conversation {
  Seconds first_delay{}, last_delay{}, most_delay{}, left_out{};
  std::uint64_t words = 0;  // samples of sentences
  bool words_unchanged = true;
  int pauses = 0;
};

// What one side says for an hour, with all that it waits for.
Conversation an_hour(double ppm, Seconds burst = Seconds(0)) {
  Playout playout(k_rate_hz);
  Conversation heard;
  const double pace = 1 + ppm / 1e6;
  std::uint64_t sent = 0, expected = 0;
  const Playout::Clock::time_point begin{1h};
  for (std::chrono::milliseconds time = 0ms; time < 1h; time += k_picture) {
    const Seconds has_now = Seconds(time) * pace + (time > 0ms ? burst : Seconds(0));
    while (Seconds(static_cast<double>(sent + k_message_samples) / k_rate_hz) <= has_now) {
      std::vector<std::int16_t> message(k_message_samples);
      for (std::int16_t& sample : message) sample = spoken_sample(sent++);
      if (!playout.hear(message, begin + time)) return {};
    }
    const PlayedSlot slot = playout.next(begin + time, k_picture);
    heard.left_out += slot.left_out;
    if (slot.sound.empty()) continue;
    if (slot.discontinuity) ++heard.pauses;
    for (const std::int16_t sample : slot.sound) {
      if (std::abs(sample) < 4000) continue;  // the room
      while (spoken_sample(expected) < 4000) ++expected;
      heard.words_unchanged = heard.words_unchanged && sample == spoken_sample(expected++);
      ++heard.words;
    }
    const Seconds delay = playout.waiting();
    if (heard.pauses == 1 && heard.first_delay == Seconds(0)) heard.first_delay = delay;
    heard.last_delay = delay;
    heard.most_delay = std::max(heard.most_delay, delay);
  }
  return heard;
}

}  // namespace

TEST_CASE("what a fast clock makes wait is taken from the silence between sentences") {
  const double ppm = GENERATE(100.0, 500.0);
  CAPTURE(ppm);
  const Conversation heard = an_hour(ppm);
  CHECK(heard.words > 3500ULL * k_rate_hz * 6 / 7);
  CHECK(heard.words_unchanged);
  CHECK(heard.pauses == 1);
  CHECK(heard.most_delay < heard.first_delay + 120ms);
  CHECK(heard.left_out.count() == Approx(3600 * ppm / 1e6).margin(0.1));
}

TEST_CASE("sound that came in a burst keeps waiting, and only what the clock gains is left out") {
  const double ppm = GENERATE(0.0, 500.0);
  CAPTURE(ppm);
  const Conversation heard = an_hour(ppm, 5s);
  CHECK(heard.words_unchanged);
  CHECK(heard.pauses == 1);
  CHECK(heard.last_delay > 4900ms);
  CHECK(heard.most_delay < 5200ms);
  CHECK(heard.left_out.count() == Approx(3600 * ppm / 1e6).margin(0.1));
}

TEST_CASE("nothing is left out of sound that comes at odd times or faster than it is played") {
  Playout playout(k_rate_hz);
  std::uint64_t sent = 0;
  const Playout::Clock::time_point begin{1h};
  Seconds left_out{};
  for (std::chrono::milliseconds time = 0ms; time < 1h; time += k_picture) {
    // A synthesiser: seven seconds of sound every five, until the room is full; and late messages.
    if (time % 5s == 0ms && playout.waiting() < 60s) {
      std::vector<std::int16_t> piece(7ULL * k_rate_hz);
      for (std::int16_t& sample : piece) sample = spoken_sample(sent++);
      REQUIRE(playout.hear(piece, begin + time));
    }
    left_out += playout.next(begin + time, k_picture).left_out;
  }
  CHECK(left_out == Seconds(0));
}

namespace {

constexpr double k_pi = 3.14159265358979;

// Notes that never stop: three partials whose pitch wavers.
std::int16_t played_note(std::uint64_t number) {
  const double time = static_cast<double>(number) / k_rate_hz;
  const double pitch = 2 * k_pi * 220 * time + 3 * std::sin(2 * k_pi * 0.3 * time);
  return static_cast<std::int16_t>(4000 * std::sin(pitch) + 2500 * std::sin(2 * pitch) +
                                   1000 * std::sin(3 * pitch));
}

std::int16_t loud_noise(std::uint64_t number) {
  std::uint64_t mixed = (number + 1) * 0x9E3779B97F4A7C15U;
  mixed = (mixed ^ mixed >> 30U) * 0xBF58476D1CE4E5B9U;
  return static_cast<std::int16_t>(static_cast<int>(mixed >> 40U & 0x1FFFU) - 0x1000);
}

struct Unbroken {
  Seconds most_delay{}, left_out{};
  int pauses = 0;
  int steepest = 0;  // the largest difference of two samples that follow each other
};

Unbroken an_hour_of(std::int16_t (*sample_at)(std::uint64_t), double ppm,
                    Seconds burst = Seconds(0)) {
  Playout playout(k_rate_hz);
  Unbroken heard;
  const Playout::Clock::time_point begin{1h};
  std::uint64_t sent = 0;
  int last = 0;
  for (std::chrono::milliseconds time = 0ms; time < 1h; time += k_picture) {
    const Seconds has_now = Seconds(time) * (1 + ppm / 1e6) + burst;
    while (Seconds(static_cast<double>(sent + k_message_samples) / k_rate_hz) <= has_now) {
      std::vector<std::int16_t> message(k_message_samples);
      for (std::int16_t& sample : message) sample = sample_at(sent++);
      REQUIRE(playout.hear(message, begin + time));
    }
    const PlayedSlot slot = playout.next(begin + time, k_picture);
    heard.left_out += slot.left_out;
    if (slot.discontinuity) ++heard.pauses;
    for (const std::int16_t sample : slot.sound) {
      heard.steepest = std::max(heard.steepest, std::abs(sample - last));
      last = sample;
    }
    heard.most_delay = std::max<Seconds>(heard.most_delay, playout.waiting());
  }
  return heard;
}

int steepest_of(std::int16_t (*sample_at)(std::uint64_t)) {
  int steepest = 0;
  for (std::uint64_t i = 1; i < 60 * k_rate_hz; ++i)
    steepest = std::max(steepest, std::abs(sample_at(i) - sample_at(i - 1)));
  return steepest;
}

}  // namespace

TEST_CASE("what a fast clock makes wait is taken from music that never pauses, without a click") {
  const double ppm = GENERATE(100.0, 1000.0);
  CAPTURE(ppm);
  const Unbroken heard = an_hour_of(played_note, ppm);
  CHECK(heard.pauses == 1);
  CHECK(heard.most_delay < 280ms);
  CHECK(heard.left_out.count() == Approx(3600 * ppm / 1e6).margin(0.15));
  CHECK(heard.steepest <= steepest_of(played_note) * 1.02);
}

TEST_CASE("the delay of noise from a fast clock is bounded, too") {
  const Unbroken heard = an_hour_of(loud_noise, 500);
  CHECK(heard.pauses == 1);
  CHECK(heard.most_delay < 340ms);
  CHECK(heard.left_out.count() == Approx(1.8).margin(0.2));
}

TEST_CASE("nothing is taken from music whose clock agrees with the worker's, or is slow") {
  const double ppm = GENERATE(0.0, -100.0);
  CAPTURE(ppm);
  CHECK(an_hour_of(played_note, ppm, 1s).left_out == Seconds(0));
}
