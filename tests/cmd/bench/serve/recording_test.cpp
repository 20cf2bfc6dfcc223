#include "cmd/bench/serve/recording.h"

#include <catch2/catch.hpp>

#include "cmd/bench/serve/distribution.h"

namespace navtalk::cmd {
namespace {

using namespace std::chrono_literals;
using std::chrono::milliseconds;

constexpr int k_rate_hz = 16000;

SteadyTime at(milliseconds time) { return SteadyTime(1h) + time; }

// Messages of 20 ms, each sent when its last sample was heard; 40 ms frames and pictures, which begin
// with the session's time `sound_begins` and come `delay` after their time.
struct Timeline {
  milliseconds sound_begins{200};
  milliseconds sound_delay{0}, picture_delay{0};
  int messages = 50, pictures = 40;

  Recording recording() const {
    Recording made{.rate_hz = k_rate_hz};
    for (int i = 0; i < messages; ++i)
      made.sent.push_back({static_cast<std::uint64_t>(i) * 320, 320, at(20ms * (i + 1))});
    for (int i = 0; i < messages / 2; ++i) {
      const milliseconds time = sound_begins + 40ms * i;
      made.sounds.push_back({.first = static_cast<std::uint64_t>(i) * 640,
                             .samples = 640,
                             .time = time,
                             .at = at(time + sound_delay)});
    }
    for (int i = 0; i < pictures; ++i)
      made.pictures.push_back(
          {.bytes = 100, .key = i == 0, .time = 40ms * i, .at = at(40ms * i + picture_delay)});
    return made;
  }
};

}  // namespace

TEST_CASE("latency runs from the sending of a sample to the arrival of its picture") {
  // The first message is sent at 20 ms; its picture, of 200 ms, comes at 230.
  const Recording recording = Timeline{.picture_delay = 30ms}.recording();
  const std::vector<float> latencies = latencies_ms(recording);
  REQUIRE(latencies.size() == 1000);  // one a millisecond of the second that was sent
  CHECK(latencies[0] == 210);
  CHECK(latencies[19] == 210);
  CHECK(latencies[20] == 190);  // the second message, with the same picture
  CHECK(latencies[39] == 190);
  CHECK(latencies[40] == 210);
  const Distribution all = distribution_of(latencies);
  CHECK(all.max == 210);
  CHECK(all.mean == 200);
}

TEST_CASE("the picture of a sample is the last one that is not presented after it") {
  Recording recording = Timeline{}.recording();
  recording.pictures.erase(recording.pictures.begin() + 6);  // of 240 ms
  const std::vector<float> latencies = latencies_ms(recording);
  // Its samples have the picture before, which came at 200 ms and was sent for at 60.
  CHECK(latencies[40] == 200 - 60);
}

TEST_CASE("sound whose picture has not come counts for nothing") {
  const Recording recording = Timeline{.pictures = 10}.recording();  // up to 400 ms
  CHECK(latencies_ms(recording).size() == 200);
  CHECK(latencies_ms(Timeline{.pictures = 0}.recording()).empty());
  CHECK(latencies_ms(Recording{}).empty());
}

TEST_CASE("figures of pictures name what was left out, and the worst second") {
  Recording recording = Timeline{.pictures = 101}.recording();  // four seconds
  PictureFigures figures = picture_figures(recording);
  CHECK(figures.count == 101);
  CHECK(figures.key == 1);
  CHECK(figures.bytes == 10100);
  CHECK(figures.per_second == Approx(25));
  CHECK(figures.worst_second == 25);
  CHECK(figures.longest_gap_ms == 40);
  CHECK(figures.left_out == 0);

  const auto first_gone = recording.pictures.begin() + 30;
  recording.pictures.erase(first_gone, first_gone + 2);
  figures = picture_figures(recording);
  CHECK(figures.left_out == 2);
  CHECK(figures.longest_gap_ms == 120);
  CHECK(figures.worst_second == 23);
}

TEST_CASE("a lower rate leaves no pictures out") {
  Recording recording = Timeline{.pictures = 101}.recording();
  std::vector<ReceivedPicture> slower;
  for (std::size_t i = 0; i < recording.pictures.size(); i += 2) {
    slower.push_back(recording.pictures[i]);
    slower.back().fps = 12;
  }
  recording.pictures = slower;
  CHECK(picture_figures(recording).left_out == 0);
}

TEST_CASE("a pause of the sound is one that its presentation times show") {
  Recording recording = Timeline{}.recording();
  CHECK(sound_figures(recording).pauses == 0);
  CHECK(sound_figures(recording).sent == 16000);
  CHECK(sound_figures(recording).returned == 16000);
  for (std::size_t i = 10; i < recording.sounds.size(); ++i) recording.sounds[i].time += 80ms;
  const SoundFigures figures = sound_figures(recording);
  CHECK(figures.pauses == 1);
  CHECK(figures.paused_ms == 80);
}

TEST_CASE("sound and pictures are compared in windows of ten seconds") {
  Timeline minute{.sound_begins = 0ms, .sound_delay = 25ms, .picture_delay = 40ms};
  minute.messages = 3000;
  minute.pictures = 1500;
  Recording recording = minute.recording();
  const Sync steady = sync_of(recording);
  CHECK(steady.windows == 6);
  CHECK(steady.first_ms == Approx(-15));
  CHECK(steady.last_ms == Approx(-15));
  CHECK(steady.clock_ms == Approx(0).margin(0.001));

  // In the last ten seconds everything comes 60 ms later, and the sound 100 ms.
  for (auto& picture : recording.pictures) picture.at += picture.time >= 50s ? 60ms : 0ms;
  for (auto& sound : recording.sounds) sound.at += sound.time >= 50s ? 100ms : 0ms;
  const Sync drifted = sync_of(recording);
  CHECK(drifted.first_ms == Approx(-15));
  CHECK(drifted.last_ms == Approx(25));
  CHECK(drifted.most_ms == Approx(25));
  CHECK(drifted.clock_ms == Approx(60));
  CHECK(sync_of(Recording{}).windows == 0);
}

TEST_CASE("percentiles are of the nearest rank") {
  std::vector<float> values;
  for (int i = 200; i > 0; --i) values.push_back(static_cast<float>(i));
  const Distribution all = distribution_of(values);
  CHECK(all.count == 200);
  CHECK(all.p50 == 100);
  CHECK(all.p95 == 190);
  CHECK(all.p99 == 198);
  CHECK(all.max == 200);
  CHECK(all.mean == 100.5);
  CHECK(distribution_of({7}).p99 == 7);
  CHECK(distribution_of({}).count == 0);
}

}  // namespace navtalk::cmd
