// Names: avatar ids, avatars in a library, pictures in a folder.
#include <catch2/catch.hpp>
#include <fstream>

#include "avatars/bundle/avatar_id.h"
#include "avatars/bundle/library.h"
#include "avatars/prepare/source_clip.h"
#include "core/base/error.h"
#include "tests/temporary_directory.h"

using namespace navtalk;
namespace fs = std::filesystem;

namespace {

void add_avatar(const fs::path& folder) {
  fs::create_directories(folder);
  write_avatar_info(folder / "avatar.json", {.id = folder.filename().string(),
                                             .width = 64,
                                             .height = 64,
                                             .frames = 1,
                                             .face_source = "box"});
}

Code code_of(const std::string& name, const std::vector<fs::path>& libraries) {
  try {
    find_avatar(name, libraries);
  } catch (const Error& error) {
    return error.code();
  }
  FAIL("\"" << name << "\" was found");
  return Code::failed;
}

}  // namespace

TEST_CASE("an avatar's id is short, plain, and never hidden or an option") {
  for (const char* good : {"ada", "A-1_b.c", "0", "ada..2"}) CHECK(valid_avatar_id(good));
  for (const char* bad : {"", ".", "..", ".ada", "-ada", "a/b", "a b", "\303\244da", "a\n"})
    CHECK_FALSE(valid_avatar_id(bad));
  CHECK(valid_avatar_id(std::string(64, 'a')));
  CHECK_FALSE(valid_avatar_id(std::string(65, 'a')));
}

TEST_CASE("an avatar is found by id in the first library that has it, or by a path with a slash") {
  const tests::TemporaryDirectory base;
  add_avatar(base / "one/ada");
  add_avatar(base / "two/ada");
  add_avatar(base / "two/bob");
  const std::vector<fs::path> libraries{base / "none", base / "one", base / "two"};
  CHECK(find_avatar("ada", libraries) == base / "one/ada");
  CHECK(find_avatar("bob", libraries) == base / "two/bob");
  CHECK(find_avatar((base / "two/ada").string(), {}) == base / "two/ada");
  CHECK(find_avatar((base / "two/ada").string(), libraries) == base / "two/ada");
}

TEST_CASE("a name that leads nowhere is not found, and never leaves the libraries") {
  const tests::TemporaryDirectory base;
  add_avatar(base / "secret");
  fs::create_directories(base / "library");
  CHECK(code_of("ada", {base / "library"}) == Code::not_found);
  CHECK(code_of("a b", {base / "library"}) == Code::usage);
  CHECK(code_of("", {base / "library"}) == Code::usage);
  CHECK(code_of((base / "library").string(), {}) == Code::not_found);
  CHECK(code_of("../secret", {base / "library"}) == Code::not_found);
}

TEST_CASE("a library lists its avatars by name, the damaged with their problem") {
  const tests::TemporaryDirectory base;
  add_avatar(base / "bob");
  add_avatar(base / "ada");
  add_avatar(base / "new.partial");
  fs::create_directories(base / "nothing");
  fs::create_directories(base / "cut");
  std::ofstream(base / "cut/avatar.json") << "{";
  const std::vector<ListedAvatar> listed = list_avatars(base.path());
  REQUIRE(listed.size() == 3);
  CHECK(listed[0].info->id == "ada");
  CHECK(listed[1].info->id == "bob");
  CHECK_FALSE(listed[2].info);
  CHECK_THAT(listed[2].problem, Catch::Contains("avatar.json"));
  CHECK_THROWS_AS(list_avatars(base / "absent"), Error);
}

TEST_CASE("pictures are sorted as people count, other files left out") {
  const tests::TemporaryDirectory base;
  for (const char* name :
       {"frame10.png", "frame9.PNG", "frame010.png", "a.jpeg", "notes.txt", "frame.webp"})
    std::ofstream(base / name) << "x";
  std::vector<std::string> names;
  for (const fs::path& picture : list_pictures(base.path()))
    names.push_back(picture.filename().string());
  CHECK(names == std::vector<std::string>{"a.jpeg", "frame.webp", "frame9.PNG", "frame010.png",
                                          "frame10.png"});
}

TEST_CASE("a folder without pictures is refused") {
  const tests::TemporaryDirectory base;
  CHECK_THROWS_WITH(list_pictures(base.path()), Catch::Contains("holds no picture"));
  CHECK_THROWS_WITH(list_pictures(base / "absent"), Catch::Contains("no such folder"));
}
