#include <catch2/catch.hpp>

#include "core/artifacts/hub/hub_source.h"
#include "core/artifacts/hub/listing.h"
#include "tests/core/expect_error.h"

using namespace navtalk;
using test::expect_error;

namespace {

const std::string k_id(40, 'a'), k_sum(64, 'b');

std::string listed(const std::string& path, const std::string& more) {
  return R"({"type":"file","path":")" + path + R"(","size":7)" + more + "}";
}
std::string small(const std::string& path) { return listed(path, R"(,"oid":")" + k_id + '"'); }

}  // namespace

TEST_CASE("git's id of a file is the one that git makes") {
  // printf 'hello\n' | git hash-object --stdin; git hash-object /dev/null
  CHECK(git_blob_id("hello\n") == "ce013625030ba8dba906f756967f9e9ca394464a");
  CHECK(git_blob_id("") == "e69de29bb2d1d6434b8b29ae775ad8c2e48c5391");
}

TEST_CASE("a hub's list tells files with the sums that they have") {
  const std::string lfs = R"(,"oid":"x","lfs":{"oid":")" + k_sum + R"(","size":7,"pointerSize":1})";
  const auto files = parse_hub_listing("[" + small("a/b.json") + "," + listed("c.bin", lfs) + "," +
                                       R"({"type":"directory","path":"a","oid":"1","size":0})" +
                                       "," + small(".gitattributes") + "," + small("a/.hidden/c") +
                                       "," + small("a b.png") + "]");
  REQUIRE(files.size() == 2);
  CHECK(files[0].path == "a/b.json");
  CHECK(files[0].git_id == k_id);
  CHECK(files[0].sha256.empty());
  CHECK(files[1].sha256 == k_sum);
  CHECK(files[1].bytes == 7);
}

TEST_CASE("a hub's list that is malformed, or leads out of the folder, is refused") {
  const auto refused = [](const std::string& json, const std::string& why) {
    INFO(json);
    expect_error(Code::invalid, {why}, [&] { parse_hub_listing(json); });
  };
  refused("<html>", "not JSON");
  refused("{}", "not a list");
  refused("[1]", "not an object");
  refused(std::string(20, '[') + std::string(20, ']'), "nested too deeply");
  refused(R"([{"type":"file"}])", "no \"path\"");
  refused(R"([{"type":"file","path":"a","oid":"1"}])", "no \"size\"");
  refused(R"([{"type":"file","path":"a","size":-1,"oid":"1"}])", "no \"size\"");
  refused("[" + listed("a", R"(,"oid":"XYZ")") + "]", "git does not make");
  refused("[" + listed("a", R"(,"lfs":{"oid":"1","size":7})") + "]", "not a SHA-256");
  refused("[" + listed("a", R"(,"lfs":{"oid":")" + k_sum + R"(","size":8})") + "]", "two sizes");
  for (const char* path : {"..", "../a", "/a", "a/../b", "a//b", "./a", "a/", "", "a\\\\..\\\\b"})
    refused("[" + small(path) + "]", "leads out of the folder");
}

TEST_CASE("a repository's address is told from that of a store") {
  const auto place = hub_place("https://hub.example.com/models/org/net.v1/resolve/main");
  REQUIRE(place);
  CHECK(place->hub == "https://hub.example.com/models");
  CHECK(place->content_url() == "https://hub.example.com/models/org/net.v1/resolve/main");
  CHECK(place->tree_url() == "https://hub.example.com/models/api/models/org/net.v1/tree");
  for (const char* url :
       {"https://hub.example.com/store", "https://hub.example.com/net/resolve/main",
        "https://hub.example.com/resolve/main", "https://hub.example.com/org/net/tree/main",
        "https://hub.example.com/org/net/resolve", "https://resolve/main"}) {
    INFO(url);
    CHECK_FALSE(hub_place(url));
  }
}

TEST_CASE("a hub's token with a line break is refused and not shown") {
  const SourceOptions options{.variable = [](const char*) { return std::string("hid\r\nden"); }};
  const Error error =
      test::error_of([&] { open_source("https://hub.example.com/org/net/resolve/main", options); });
  CHECK_THAT(error.message(), Catch::Contains("NAVTALK_HUB_TOKEN"));
  CHECK_THAT(error.message(), !Catch::Contains("hid"));
}
