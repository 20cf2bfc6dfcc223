// What a bucket of another implementation does; bucket_test.py runs it beside one.
#include <catch2/catch.hpp>
#include <cstdlib>

#include "tests/core/artifacts/bucket_fixture.h"

using namespace navtalk;
using namespace navtalk::test;
using Outcome = Transfer::Outcome;

TEST_CASE("a bucket of another implementation takes, gives and removes objects", "[.][service]") {
  const char* const endpoint = std::getenv("NAVTALK_TEST_S3");
  REQUIRE(endpoint != nullptr);
  const ScratchFolder folder;
  const Bucket bucket("s3://videos/jobs", variables(endpoint), k_small);
  for (const std::size_t size : {std::size_t{200}, std::size_t{1051}}) {
    const std::string text = long_text(size);
    std::uint64_t bytes = 0;
    CHECK(bucket.size("a/key", bytes, {}).outcome == Outcome::missing);
    const Transfer sent = send_text(bucket, folder, text);
    INFO(sent.why);
    REQUIRE(sent.outcome == Outcome::done);
    REQUIRE(bucket.size("a/key", bytes, {}).outcome == Outcome::done);
    CHECK(bytes == size);
    std::string piece;
    CHECK(bucket.read("a/key", 0, size, piece, {}).outcome == Outcome::done);
    CHECK(piece == text);
    CHECK(bucket.read("a/key", 50, 100, piece, {}).outcome == Outcome::done);
    CHECK(piece == text.substr(50, 100));
    CHECK(bucket.read("other", 0, 1, piece, {}).outcome == Outcome::missing);
    CHECK(bucket.remove("a/key", {}).outcome == Outcome::done);
    CHECK(bucket.remove("a/key", {}).outcome == Outcome::done);
  }
}
