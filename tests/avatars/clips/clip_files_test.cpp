// The list of clips in avatar.json, and transitions.safetensors.
#include <catch2/catch.hpp>
#include <fstream>
#include <limits>

#include "avatars/bundle/avatar_info.h"
#include "avatars/bundle/playback.h"
#include "avatars/bundle/transitions.h"
#include "core/base/error.h"
#include "tests/temporary_directory.h"

using namespace navtalk;

namespace {

AvatarInfo avatar_of_clips() {
  return {.id = "ada",
          .format_version = 2,
          .width = 200,
          .height = 100,
          .frames = 9,
          .face_source = "box",
          .loop = true,
          .clips = {{.name = "speaking", .first = 0, .frames = 4, .loop = true},
                    {.name = "idle", .first = 4, .frames = 3},
                    {.name = "wave", .first = 7, .frames = 2}}};
}

std::string read_text(const std::filesystem::path& file) {
  std::ifstream in(file);
  return {std::istreambuf_iterator<char>(in), {}};
}

std::vector<Transition> rows_of(const AvatarInfo& info) {
  std::vector<Transition> rows;
  for (std::int64_t frame = 0; frame < info.frames; ++frame)
    for (const AvatarClip& clip : info.clips)
      rows.push_back(
          {.entry = clip.first + frame % clip.frames, .difference = static_cast<float>(frame) / 4});
  return rows;
}

}  // namespace

TEST_CASE("an avatar's clips are read back as they were written") {
  const tests::TemporaryDirectory folder;
  write_avatar_info(folder / "avatar.json", avatar_of_clips());
  CHECK(read_avatar_info(folder / "avatar.json") == avatar_of_clips());
  CHECK(action_names(avatar_of_clips().clips) == std::vector<std::string>{"wave"});
}

TEST_CASE("every fault in the list of clips is refused with its key") {
  const tests::TemporaryDirectory folder;
  const std::filesystem::path file = folder / "avatar.json";
  write_avatar_info(file, avatar_of_clips());
  const std::string good = read_text(file);
  const auto [from, to, complaint] = GENERATE(table<std::string, std::string, std::string>({
      {"\"speaking\"", "\"talking\"", "clips[0].name of the first clip must be \"speaking\""},
      {"\"idle\"", "\"speaking\"", "clips[1].name stands there twice"},
      {"\"wave\"", "\"Wave!\"", "clips[2].name must be a state, or 1 to 32 of"},
      {"\"first\": 4", "\"first\": 5", "clips[1].first must be 4: clips follow one another"},
      {"\"frames\": 2", "\"frames\": 1", "clips hold 8 frames together, and the avatar has 9"},
      {"\"frames\": 3", "\"frames\": 0", "clips[1].frames must be a whole number"},
      {"\"loop\": true,", "", "clips disagree with \"loop\""},
  }));
  std::string bad = good;
  bad.replace(bad.find(from), from.size(), to);
  std::ofstream(file) << bad;
  CHECK_THROWS_WITH(read_avatar_info(file), Catch::Contains(complaint));
}

TEST_CASE("videos are rendered from the clip for speech") {
  const AvatarInfo info = avatar_of_clips();
  for (std::int64_t t = 0; t < 20; ++t) CHECK(shown_frame(info, info.fps, t) == t % 4);
}

TEST_CASE("transitions are read back as they were written") {
  const tests::TemporaryDirectory folder;
  const AvatarInfo info = avatar_of_clips();
  Transitions(3, rows_of(info)).write(folder / "t.safetensors");
  const Transitions read = Transitions::read(folder / "t.safetensors", info);
  CHECK(read.into(1, 8).entry == 4 + 8 % 3);
  CHECK(read.into(2, 5).entry == 7 + 5 % 2);
  CHECK(read.into(2, 5).difference == 1.25F);
}

TEST_CASE("transitions that do not fit the avatar are refused with their tensor") {
  const tests::TemporaryDirectory folder;
  const std::filesystem::path file = folder / "t.safetensors";
  const AvatarInfo info = avatar_of_clips();
  const auto refusal = [&](const std::vector<Transition>& rows) {
    Transitions(3, rows).write(file);
    try {
      Transitions::read(file, info);
    } catch (const Error& error) {
      CHECK(error.code() == Code::invalid);
      return error.message();
    }
    return std::string("nothing was wrong");
  };
  std::vector<Transition> rows = rows_of(info);
  rows[4].entry = 3;
  CHECK_THAT(refusal(rows), Catch::Contains("\"entry\": frame 3 does not belong to the clip idle"));
  rows[4].entry = 7;
  CHECK_THAT(refusal(rows), Catch::Contains("frame 7 does not belong"));
  rows = rows_of(info);
  rows[1].difference = -1;
  CHECK_THAT(refusal(rows), Catch::Contains("\"difference\" holds -1"));
  rows[1].difference = std::numeric_limits<float>::quiet_NaN();
  CHECK_THAT(refusal(rows), Catch::Contains("\"difference\" holds nan"));
  rows = rows_of(info);
  rows.resize(rows.size() - 3);
  CHECK_THAT(refusal(rows), Catch::Contains("\"entry\" must be I32 [9, 3]"));
}
