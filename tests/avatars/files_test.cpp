// avatar.json and faces.json: what is written is read back, and nothing else is believed.
#include <catch2/catch.hpp>
#include <fstream>

#include "avatars/bundle/avatar_info.h"
#include "avatars/bundle/face_finish.h"
#include "avatars/bundle/faces.h"
#include "core/base/error.h"
#include "tests/temporary_directory.h"

using namespace navtalk;

namespace {

AvatarInfo sample_info() {
  return {.id = "ada",
          .width = 200,
          .height = 100,
          .fps = 25,
          .frames = 3,
          .faceless_frames = 1,
          .face_source = "box",
          .model_checksum = std::string(64, 'a'),
          .loop = true,
          .voice = "en-us+m3"};
}

Faces sample_faces() {
  const AvatarFace face{{{50, 20, 100, 80}, {30, 5, 120, 95}}, {22, 46, 68, 70}, 0};
  return {face, std::nullopt, face};
}

void put(const std::filesystem::path& file, const std::string& text) {
  std::ofstream(file, std::ios::binary) << text;
}

std::string text_of(const std::filesystem::path& file) {
  std::ifstream in(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

std::string replaced(std::string text, const std::string& from, const std::string& to) {
  REQUIRE(text.find(from) != std::string::npos);
  return text.replace(text.find(from), from.size(), to);
}

struct Fault {
  std::string from, to, complaint;
};

}  // namespace

TEST_CASE("avatar.json is read back as it was written") {
  const tests::TemporaryDirectory folder;
  AvatarInfo info = sample_info();
  write_avatar_info(folder / "avatar.json", info);
  CHECK(read_avatar_info(folder / "avatar.json") == info);
  info.model_checksum.clear();
  write_avatar_info(folder / "avatar.json", info);
  CHECK(read_avatar_info(folder / "avatar.json") == info);
}

TEST_CASE("avatar.json says what is done to generated faces, and nothing where that is nothing") {
  const tests::TemporaryDirectory folder;
  AvatarInfo info = sample_info();
  write_avatar_info(folder / "avatar.json", info);
  CHECK(text_of(folder / "avatar.json").find("sharpen") == std::string::npos);
  CHECK(text_of(folder / "avatar.json").find("match_colour") == std::string::npos);
  CHECK(face_finish(info) == FaceFinish{});
  info.sharpen = 1.2;
  info.match_colour = true;
  write_avatar_info(folder / "avatar.json", info);
  CHECK_THAT(text_of(folder / "avatar.json"), Catch::Contains("\"sharpen\": 1.2,"));
  CHECK(read_avatar_info(folder / "avatar.json") == info);
  CHECK(face_finish(info) == FaceFinish{Unsharp{.amount = 1.2F}, true});
  CHECK(face_finish(info, 0.0, false) == FaceFinish{});
  CHECK(face_finish(sample_info(), 2.0, true) == FaceFinish{Unsharp{.amount = 2}, true});
}

TEST_CASE("avatar.json holds a whole rate as a number and any other as a fraction") {
  const tests::TemporaryDirectory folder;
  AvatarInfo info = sample_info();
  write_avatar_info(folder / "avatar.json", info);
  CHECK_THAT(text_of(folder / "avatar.json"), Catch::Contains("\"fps\": 25,"));
  info.fps = {30000, 1001};
  write_avatar_info(folder / "avatar.json", info);
  CHECK_THAT(text_of(folder / "avatar.json"), Catch::Contains("\"fps\": \"30000/1001\","));
  CHECK(read_avatar_info(folder / "avatar.json") == info);
}

TEST_CASE("a key that avatar.json does not need does not disturb") {
  const tests::TemporaryDirectory folder;
  write_avatar_info(folder / "avatar.json", sample_info());
  put(folder / "avatar.json",
      replaced(text_of(folder / "avatar.json"), "\"id\"", "\"mood\": \"good\", \"id\""));
  CHECK(read_avatar_info(folder / "avatar.json") == sample_info());
}

TEST_CASE("every fault in avatar.json is refused with the key's name") {
  const tests::TemporaryDirectory folder;
  const std::filesystem::path file = folder / "avatar.json";
  write_avatar_info(file, sample_info());
  const std::string good = text_of(file);
  const Fault faults[] = {
      {"\"id\": \"ada\"", "\"id\": \"../ada\"", "id must be"},
      {"\"id\": \"ada\"", "\"id\": 7", "id must be a string"},
      {"\"navtalk-avatar\"", "\"other\"", "format must be"},
      {"\"format_version\": 1", "\"format_version\": 3", "newer navtalk"},
      {"\"fps\": 25", "\"fps\": 25, \"pixel_format\": \"yuv\"", "pixel_format must be"},
      {"\"fps\": 25", "\"fps\": 25, \"given_latents\": true", "given_latents excludes"},
      {"\"format_version\": 1", "\"format_version\": 0", "format_version must be"},
      {"\"width\": 200", "\"width\": 0", "width must be a whole number"},
      {"\"width\": 200", "\"width\": 1e9", "width must be a whole number"},
      {"\"width\": 200", "\"width\": 18446744073709551615", "width must be a whole number"},
      {"\"height\": 100", "\"hight\": 100", "height: missing"},
      {"\"fps\": 25", "\"fps\": 25.5", "fps must be"},
      {"\"fps\": 25", "\"fps\": 241", "fps must be"},
      {"\"fps\": 25", "\"fps\": \"fast\"", "fps must be"},
      {"\"fps\": 25", "\"fps\": \"1/2\"", "fps must be"},
      {"\"frames\": 3", "\"frames\": 0", "frames must be"},
      {"\"faceless_frames\": 1", "\"faceless_frames\": 4", "faceless_frames must be"},
      {"\"aaaa", "\"Aaaa", "model_checksum must be"},
      {"\"loop\": true", "\"loop\": 1", "loop must be true or false"},
      {"\"fps\": 25", "\"fps\": 25, \"sharpen\": 11", "sharpen must be a number from 0 to 10"},
      {"\"fps\": 25", "\"fps\": 25, \"sharpen\": \"much\"", "sharpen must be a number"},
      {"\"fps\": 25", "\"fps\": 25, \"match_colour\": 1", "match_colour must be true or false"},
      {"\"en-us+m3\"", "7", "voice must be a string"},
      {"en-us+m3", std::string(65, 'v'), "voice longer than 64 bytes"},
      {"}", "", "not JSON"},
      {good, "[]", "not a JSON object"},
      {good, "{\"a\":[[[[[[[[1]]]]]]]]}", "nested too deeply"},
      {good, std::string(100'000, ' '), "larger than"},
  };
  for (const Fault& fault : faults) {
    put(file, replaced(good, fault.from, fault.to));
    CHECK_THROWS_WITH(read_avatar_info(file),
                      Catch::Contains(fault.complaint) && Catch::Contains("avatar.json"));
  }
}

TEST_CASE("a missing avatar.json is not found") {
  const tests::TemporaryDirectory folder;
  try {
    read_avatar_info(folder / "avatar.json");
    FAIL("it was read");
  } catch (const Error& error) {
    CHECK(error.code() == Code::not_found);
  }
}

TEST_CASE("faces.json is read back as it was written, faceless frames in their places") {
  const tests::TemporaryDirectory folder;
  write_faces(folder / "faces.json", sample_faces());
  const Faces faces = read_faces(folder / "faces.json", sample_info());
  REQUIRE(faces.size() == 3);
  CHECK(count_faces(faces) == 2);
  CHECK_FALSE(faces[1]);
  CHECK(faces[2]->placement.box == Box{50, 20, 100, 80});
  CHECK(faces[2]->placement.crop_box == Box{30, 5, 120, 95});
  CHECK(faces[2]->mask_region == Box{22, 46, 68, 70});
  CHECK(faces[2]->mask == 0);
}

TEST_CASE("every fault in faces.json is refused with the frame and the key") {
  const tests::TemporaryDirectory folder;
  const std::filesystem::path file = folder / "faces.json";
  write_faces(file, sample_faces());
  const std::string good = text_of(file);
  const Fault faults[] = {
      {"null,\n", "", "frames has 2 entries, avatar.json says 3"},
      {"\"frames\"", "\"frame\"", "frames: missing"},
      {"null", "7", "frames[1] must be an object"},
      {"[50,20,100,80]", "[50,20,201,80]", "frames[0].box leaves the frame of 200x100"},
      {"[50,20,100,80]", "[-1,20,100,80]", "frames[0].box leaves"},
      {"[50,20,100,80]", "[50,20,50,80]", "frames[0].box is empty"},
      {"[50,20,100,80]", "[50,20,100]", "frames[0].box must be [x1, y1, x2, y2]"},
      {"[50,20,100,80]", "[50,20,100,99999999999]", "frames[0].box[3] must be a whole number"},
      {"[50,20,100,80]", "\"box\"", "frames[0].box must be a list"},
      {"[30,5,120,95]", "[60,5,120,95]", "frames[0].crop_box must surround the box"},
      {"[30,5,120,95]", "[-99999,5,120,95]", "frames[0].crop_box must surround"},
      {"[22,46,68,70]", "[22,46,80,70]", "frames[0].mask_region leaves the face box"},
      {"\"mask\":0", "\"mask\":-1", "frames[0].mask must be a whole number"},
  };
  for (const Fault& fault : faults) {
    put(file, replaced(good, fault.from, fault.to));
    CHECK_THROWS_WITH(read_faces(file, sample_info()),
                      Catch::Contains(fault.complaint) && Catch::Contains("faces.json"));
  }
}
