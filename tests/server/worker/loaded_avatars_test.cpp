#include "server/worker/loaded_avatars.h"

#include <catch2/catch.hpp>

using namespace navtalk::server;
using Ids = std::vector<std::string>;

namespace {

AvatarSize of_bytes(std::uint64_t bytes) { return {.width = 1, .height = 1, .memory = bytes}; }

}  // namespace

TEST_CASE("of avatars that nobody holds, those that were asked for last stay, up to the count") {
  LoadedAvatars avatars({.count = 2});
  for (const char* const id : {"a", "b", "c"}) avatars.add(id, of_bytes(1));
  REQUIRE(avatars.find("a"));
  CHECK(avatars.take_surplus() == Ids{"b"});
  CHECK(avatars.ids() == Ids{"a", "c"});
  CHECK(avatars.take_surplus().empty());
  CHECK(avatars.find("b") == nullptr);
}

TEST_CASE("of avatars that nobody holds, as many stay as the bytes allow") {
  LoadedAvatars avatars({.count = 9, .bytes = 10});
  avatars.add("a", of_bytes(1));
  avatars.add("b", of_bytes(6));
  avatars.add("c", of_bytes(4));
  CHECK(avatars.take_surplus() == Ids{"a"});
}

TEST_CASE("an avatar that somebody holds stays, and does not count") {
  LoadedAvatars avatars({.count = 1, .bytes = 10});
  HeldAvatar held = avatars.add("a", of_bytes(100));
  avatars.add("b", of_bytes(10));
  CHECK(avatars.take_surplus().empty());
  avatars.add("c", of_bytes(10));
  CHECK(avatars.take_surplus() == Ids{"b"});
  held.reset();
  CHECK(avatars.take_surplus() == Ids{"a"});
}

TEST_CASE("the avatar that was asked for last stays, however large it is") {
  LoadedAvatars avatars({.count = 0, .bytes = 0});
  avatars.add("a", of_bytes(100));
  CHECK(avatars.take_surplus().empty());
  avatars.add("b", of_bytes(100));
  CHECK(avatars.take_surplus() == Ids{"a"});
}

TEST_CASE("an avatar that is added twice is there once") {
  LoadedAvatars avatars({});
  const HeldAvatar first = avatars.add("a", of_bytes(1));
  CHECK(avatars.add("a", of_bytes(2)) == first);
  CHECK(avatars.count() == 1);
}
