#include "avatars/bundle/playback.h"

#include <catch2/catch.hpp>
#include <vector>

TEST_CASE("ping-pong runs to the end, back to the start, and shows both ends twice") {
  std::vector<std::int64_t> shown;
  for (std::int64_t t = 0; t < 10; ++t) shown.push_back(navtalk::ping_pong(t, 3));
  CHECK(shown == std::vector<std::int64_t>{0, 1, 2, 2, 1, 0, 0, 1, 2, 2});
}

TEST_CASE("a still is shown for ever") {
  CHECK(navtalk::ping_pong(0, 1) == 0);
  CHECK(navtalk::ping_pong(12345678901, 1) == 0);
}

TEST_CASE("a clip that loops goes from its last frame to its first") {
  std::vector<std::int64_t> round, forth_and_back;
  for (std::int64_t t = 0; t < 7; ++t) {
    round.push_back(navtalk::shown_frame(t, 3, true));
    forth_and_back.push_back(navtalk::shown_frame(t, 3, false));
  }
  CHECK(round == std::vector<std::int64_t>{0, 1, 2, 0, 1, 2, 0});
  CHECK(forth_and_back == std::vector<std::int64_t>{0, 1, 2, 2, 1, 0, 0});
}

TEST_CASE("the clip runs at its own speed whatever the video's rate is") {
  const navtalk::AvatarInfo at_25{.fps = 25, .frames = 100, .loop = true};
  const navtalk::AvatarInfo at_60{.fps = 60, .frames = 100, .loop = true};
  const auto shown = [](const navtalk::AvatarInfo& avatar, const navtalk::FrameRate& fps) {
    std::vector<std::int64_t> frames;
    for (std::int64_t t = 0; t < 6; ++t) frames.push_back(navtalk::shown_frame(avatar, fps, t));
    return frames;
  };
  CHECK(shown(at_25, 25) == std::vector<std::int64_t>{0, 1, 2, 3, 4, 5});
  CHECK(shown(at_25, 50) == std::vector<std::int64_t>{0, 0, 1, 1, 2, 2});
  CHECK(shown(at_60, 25) == std::vector<std::int64_t>{0, 2, 4, 7, 9, 12});
  CHECK(navtalk::shown_frame(at_25, navtalk::FrameRate(30000, 1001), 30000) == 25025 % 100);
}
