#include "cmd/bench/serve/returned_sound.h"

#include <catch2/catch.hpp>
#include <random>
#include <vector>

namespace navtalk::cmd {
namespace {

constexpr std::size_t k_frame = 640;  // 40 ms

// A second of noise, with silence from 0.25 to 0.5 s.
Speech speech() {
  std::mt19937 bits(1);
  std::uniform_int_distribution<int> any(-9000, 9000);
  Speech made{.rate_hz = 16000, .samples = std::vector<std::int16_t>(16000)};
  for (std::size_t i = 0; i < made.samples.size(); ++i)
    made.samples[i] = i / 4000 == 1 ? std::int16_t{0} : static_cast<std::int16_t>(any(bits));
  return made;
}

std::vector<std::int16_t> twice(const Speech& speech) {
  std::vector<std::int16_t> all = speech.samples;
  all.insert(all.end(), speech.samples.begin(), speech.samples.end());
  return all;
}

// As a worker leaves samples out: what was due passes into what is due behind them.
void leave_out(std::vector<std::int16_t>& sound, std::size_t at, std::size_t count,
               std::size_t seam) {
  for (std::size_t i = 0; i < seam; ++i)
    sound[at + count + i] = static_cast<std::int16_t>((sound[at + i] + sound[at + count + i]) / 2);
  sound.erase(sound.begin() + static_cast<std::ptrdiff_t>(at),
              sound.begin() + static_cast<std::ptrdiff_t>(at + count));
}

void give(ReturnedSound& returned, const std::vector<std::int16_t>& sound) {
  for (std::size_t at = 0; at < sound.size(); at += k_frame)
    returned.take(std::span(sound).subspan(at, std::min(k_frame, sound.size() - at)));
}

}  // namespace

TEST_CASE("sound that comes back as it was sent is neither altered nor shortened") {
  const Speech sent = speech();
  ReturnedSound returned(sent);
  give(returned, twice(sent));
  CHECK(returned.next() == 32000);
  CHECK(returned.first() == 32000 - k_frame);
  CHECK(returned.altered() == 0);
  CHECK(returned.left_out() == 0);
}

TEST_CASE(
    "samples that are left out, with a seam, are counted, and what follows is compared with its "
    "own") {
  const Speech sent = speech();
  // In the middle of a frame, where the seam crosses into the next one, and in silence.
  const auto at = GENERATE(std::size_t{8000}, std::size_t{2 * k_frame - 40}, std::size_t{5000});
  const auto count = GENERATE(std::size_t{64}, std::size_t{320});
  CAPTURE(at, count);
  std::vector<std::int16_t> sound = twice(sent);
  leave_out(sound, at, count, 80);
  ReturnedSound returned(sent);
  give(returned, sound);
  CHECK(returned.left_out() == count);
  CHECK(returned.altered() == 0);
  CHECK(returned.next() == 32000);
}

TEST_CASE("two gaps are two, and the sound begins again where its client does") {
  const Speech sent = speech();
  std::vector<std::int16_t> sound = twice(sent);
  leave_out(sound, 20000, 320, 80);
  leave_out(sound, 9000, 100, 160);
  ReturnedSound returned(sent);
  give(returned, sound);
  CHECK(returned.left_out() == 420);
  CHECK(returned.altered() == 0);
  returned.begin_again();
  give(returned, sent.samples);
  CHECK(returned.left_out() == 420);
  CHECK(returned.altered() == 0);
}

TEST_CASE("samples that were changed are altered") {
  const Speech sent = speech();
  std::vector<std::int16_t> sound = twice(sent);
  sound[700] ^= 1;
  for (std::size_t i = 9000; i < 9300; ++i) sound[i] ^= 1;
  ReturnedSound returned(sent);
  give(returned, sound);
  CHECK(returned.altered() == 301);
  CHECK(returned.left_out() == 0);
  CHECK(returned.next() == 32000);
}

TEST_CASE("a seam that is longer than a worker's is altered sound") {
  const Speech sent = speech();
  std::vector<std::int16_t> sound = twice(sent);
  leave_out(sound, 9000, 320, 200);
  ReturnedSound returned(sent);
  give(returned, sound);
  CHECK(returned.left_out() == 320);
  CHECK(returned.altered() > 0);
}

}  // namespace navtalk::cmd
