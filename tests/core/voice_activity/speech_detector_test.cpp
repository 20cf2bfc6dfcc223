// The detector against its twin that was trained (tools/speech_detector writes the fixture), and on drawn sounds.
#include "core/voice_activity/speech_detector.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <cstring>
#include <functional>
#include <numbers>
#include <random>

#include "core/checkpoint/checkpoint.h"
#include "core/process/run.h"
#include "tests/synthetic_voice.h"

using namespace navtalk;
using namespace navtalk::tests;
using namespace std::chrono_literals;

namespace {

constexpr int k_rate = 16000;
constexpr std::size_t k_frame = 160;

using Samples = std::vector<std::int16_t>;

Checkpoint fixture() { return Checkpoint::open(NAVTALK_FIXTURES "/speech_detector.safetensors"); }

Samples recorded_sound() {
  const NdArray<std::int64_t> samples = fixture().read_i64("samples");
  return {samples.values.begin(), samples.values.end()};
}

// The answer to each frame.
std::vector<float> likelihoods(const Samples& sound) {
  SpeechDetector detector(k_rate);
  std::vector<float> answers;
  for (std::size_t at = 0; at + k_frame <= sound.size(); at += k_frame) {
    detector.hear(std::span(sound).subspan(at, k_frame));
    answers.push_back(detector.likelihood());
  }
  return answers;
}

// Five seconds of a sound, given by time, at so many decibels of full scale.
Samples at_level(double level_db, const std::function<double(double)>& sound) {
  std::vector<double> values(5 * k_rate);
  double energy = 0;
  for (std::size_t i = 0; i < values.size(); ++i) {
    values[i] = sound(static_cast<double>(i) / k_rate);
    energy += values[i] * values[i];
  }
  const double gain =
      32768 * std::pow(10, level_db / 20) / std::sqrt(energy / static_cast<double>(values.size()));
  Samples samples;
  for (const double value : values)
    samples.push_back(static_cast<std::int16_t>(std::clamp(gain * value, -32767.0, 32767.0)));
  return samples;
}

double sine(double hz, double time) { return std::sin(2 * std::numbers::pi * hz * time); }

bool hears_speech(const Samples& sound, int rate_hz = k_rate) {
  SpeechDetector detector(rate_hz);
  detector.hear(sound);
  return detector.last_speech().has_value();
}

// White noise through `steps` integrators that forget, or differences where negative.
std::function<double(double)> noise(double keep, bool difference) {
  return [=, generator = std::minstd_rand(7), sum = 0.0, last = 0.0](double) mutable {
    const double white = std::normal_distribution<double>()(generator);
    sum = keep * sum + white;
    return difference ? white - std::exchange(last, white) : sum;
  };
}

}  // namespace

TEST_CASE("features and answers are those of the twin that was trained") {
  const Samples sound = recorded_sound();
  const NdArray<float> expected = fixture().read_f32("features");
  SoundFeatures features;
  for (std::size_t frame = 0; (frame + 1) * k_frame <= sound.size(); ++frame) {
    std::array<float, k_frame> samples{};
    std::transform(sound.begin() + static_cast<std::ptrdiff_t>(frame * k_frame),
                   sound.begin() + static_cast<std::ptrdiff_t>((frame + 1) * k_frame),
                   samples.begin(),
                   [](std::int16_t sample) { return static_cast<float>(sample) / 32768.0F; });
    const SoundFeatures::Frame heard = features.next(samples);
    if (frame % 10 != 0) continue;
    const float* row = expected.row(static_cast<std::int64_t>(frame / 10));
    for (std::size_t i = 0; i < heard.size(); ++i) {
      CAPTURE(frame, i);
      CHECK(heard[i] == Approx(row[i]).margin(1e-3));
    }
  }
  const std::vector<float> answers = likelihoods(sound);
  const NdArray<float> likelihood = fixture().read_f32("likelihood");
  REQUIRE(answers.size() == likelihood.values.size());
  for (std::size_t i = 0; i < answers.size(); ++i) {
    CAPTURE(i);
    CHECK(answers[i] == Approx(likelihood.values[i]).margin(2e-3));
  }
  CHECK(*std::ranges::max_element(answers) > 0.9F);
  CHECK(*std::ranges::min_element(answers) < 0.1F);
}

TEST_CASE("what is heard does not depend on the pieces in which a sound comes") {
  const int rate = GENERATE(8000, 11025, 16000, 44100, 48000, 8001);
  const Samples voice = synthetic_voice(static_cast<std::size_t>(rate), rate);
  SpeechDetector whole(rate);
  whole.hear(voice);
  REQUIRE(whole.last_speech());
  for (const std::size_t piece : {std::size_t{1}, std::size_t{77}, std::size_t{441}}) {
    SpeechDetector pieces(rate);
    for (std::size_t at = 0; at < voice.size(); at += piece)
      pieces.hear(std::span(voice).subspan(at, std::min(piece, voice.size() - at)));
    CHECK(pieces.likelihood() == whole.likelihood());
    CHECK(pieces.last_speech() == whole.last_speech());
  }
}

TEST_CASE("noise of any colour, hum, tones and chords are not speech, however loud") {
  const int level_db = GENERATE(-30, -40, -55);
  const auto chord = [](double root_hz) {
    return [=](double t) {
      return sine(root_hz, t) + sine(1.25 * root_hz, t) + sine(1.5 * root_hz, t);
    };
  };
  const auto hum = [](double hz) {
    return [=](double t) {
      double sum = 0;
      for (int k = 1; k < 12; ++k) sum += sine(hz * k, t) / k;
      return sum;
    };
  };
  const std::vector<std::pair<std::string, std::function<double(double)>>> sounds{
      {"white noise", noise(0, false)},
      {"pink noise", noise(0.9, false)},
      {"brown noise", noise(0.99, false)},
      {"blue noise", noise(0, true)},
      {"hum, 50 Hz", hum(50)},
      {"hum, 60 Hz", hum(60)},
      {"hum, 100 Hz", hum(100)},
      {"hum, 120 Hz", hum(120)},
      {"tone, 440 Hz", [](double t) { return sine(440, t); }},
      {"tone, 3 kHz", [](double t) { return sine(3000, t); }},
      {"chord", chord(220)}};
  for (const auto& [name, sound] : sounds) {
    CAPTURE(name, level_db);
    CHECK_FALSE(hears_speech(at_level(level_db, sound)));
  }
}

TEST_CASE("digital silence, and less than -75 dB, are not speech and cost nothing") {
  SpeechDetector detector(k_rate);
  for (int minutes = 0; minutes < 60; ++minutes) detector.hear(Samples(60 * k_rate));
  CHECK_FALSE(detector.last_speech());
  CHECK_FALSE(hears_speech(at_level(-80, noise(0, false))));
}

TEST_CASE("a voice is speech from its beginning on, also quiet or in noise") {
  const int level_db = GENERATE(-16, -25, -45, -55);
  CAPTURE(level_db);
  Samples sound(k_rate);
  for (const std::int16_t sample : synthetic_voice(2 * k_rate)) {
    // Which has -26 dB.
    sound.push_back(
        static_cast<std::int16_t>(std::lround(sample * std::pow(10, (level_db + 26) / 20.0))));
  }
  const std::vector<float> answers = likelihoods(sound);
  const auto first =
      std::ranges::find_if(answers, [](float answer) { return answer >= SpeechDetector::k_begin; });
  CHECK(first - answers.begin() >= 100);
  CHECK(first - answers.begin() <= 112);
  const auto missed = std::count_if(answers.begin() + 112, answers.begin() + 300,
                                    [](float answer) { return answer < SpeechDetector::k_end; });
  CHECK(missed == 0);
}

TEST_CASE("what was said last ends where the voice ends") {
  Samples sound = synthetic_voice(k_rate);
  sound.resize(3 * k_rate);
  SpeechDetector detector(k_rate);
  detector.hear(sound);
  REQUIRE(detector.last_speech());
  CHECK(*detector.last_speech() >= 900ms);
  CHECK(*detector.last_speech() <= 1250ms);
}

TEST_CASE("what espeak-ng says is speech, at any rate") {
  const std::optional<RunResult> spoken =
      run_program({.command = {"espeak-ng", "-v", "en-us", "--stdin", "--stdout"},
                   .input = "Ten boats passed the bridge before noon."},
                  {});
  if (!spoken) {
    WARN("espeak-ng is not installed");
    return;
  }
  // 22,050 Hz, behind a header of 44 bytes.
  Samples sound((spoken->output.size() - 44) / 2);
  std::memcpy(sound.data(), spoken->output.data() + 44, 2 * sound.size());
  SpeechDetector detector(22050);
  int speech = 0, frames = 0;
  for (std::size_t at = 0; at + 220 <= sound.size(); at += 220, ++frames) {
    detector.hear(std::span(sound).subspan(at, 220));
    speech += detector.likelihood() >= SpeechDetector::k_begin ? 1 : 0;
  }
  CHECK(speech > frames * 3 / 4);
}
