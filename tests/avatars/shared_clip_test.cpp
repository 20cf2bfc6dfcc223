// The pictures of an avatar for several sessions.
#include "avatars/live/shared_clip.h"

#include <catch2/catch.hpp>
#include <thread>
#include <vector>

#include "core/files/temporary_folder.h"
#include "tests/avatars/drawn_face.h"

using namespace navtalk;

namespace {

constexpr int k_clip_frames = 12;

std::vector<std::vector<std::uint8_t>> pictures_in(const std::filesystem::path& file, int width,
                                                   int height) {
  Clip clip(file, width, height);
  std::vector<std::vector<std::uint8_t>> pictures;
  for (std::int64_t i = 0; i < clip.frame_count(); ++i) pictures.push_back(clip.frame(i).pixels);
  return pictures;
}

}  // namespace

TEST_CASE("sessions of one avatar share its decoded clip, and see the same pictures at any place") {
  const TemporaryFolder folder;
  const auto file = folder.path() / "frames.mp4";
  const std::vector<Image> frames = tests::moving_face(k_clip_frames);
  tests::write_clip(file, frames);
  const auto pictures = pictures_in(file, frames[0].width, frames[0].height);
  ClipOfSessions clips(file, frames[0].width, frames[0].height);
  const auto first = clips.open();
  CHECK(clips.open() == first);
  std::vector<int> wrong(4);
  {
    std::vector<std::jthread> sessions;
    for (int session = 0; session < 4; ++session) {
      sessions.emplace_back([&, session] {
        const auto shared = clips.open();
        for (int i = 0; i < 3 * k_clip_frames; ++i) {
          const int index = (i + 5 * session) % k_clip_frames;
          if (shared->frame(index).pixels != pictures[static_cast<std::size_t>(index)])
            ++wrong[static_cast<std::size_t>(session)];
        }
      });
    }
  }
  CHECK(wrong == std::vector<int>(4));
}

TEST_CASE("a clip that no session uses is gone, and opened again for the next one") {
  const TemporaryFolder folder;
  const auto file = folder.path() / "frames.mp4";
  const std::vector<Image> frames = tests::moving_face(k_clip_frames);
  tests::write_clip(file, frames);
  ClipOfSessions clips(file, frames[0].width, frames[0].height);
  const std::weak_ptr<SharedClip> used = clips.open();
  CHECK(used.expired());
  CHECK(clips.open()->frame(0).pixels == pictures_in(file, frames[0].width, frames[0].height)[0]);
}

TEST_CASE("each session has a clip of its own where the pictures do not all stay in memory") {
  const TemporaryFolder folder;
  const auto file = folder.path() / "frames.mp4";
  tests::write_clip(file, std::vector<Image>(17, Image(3840, 2160)));
  ClipOfSessions clips(file, 3840, 2160);
  const auto first = clips.open();
  CHECK(clips.open() != first);
}
