#include "core/base/frame_rate.h"

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

using namespace navtalk;
using std::chrono::nanoseconds;

TEST_CASE("equal frame rates are equal whatever fraction they were given as") {
  CHECK(FrameRate(50, 2) == 25);
  CHECK(FrameRate(60000, 2002) == FrameRate(30000, 1001));
  CHECK(FrameRate(30000, 1001) < 30);
  CHECK(FrameRate(30000, 1001) > FrameRate(2997, 100));
  CHECK(FrameRate(0) < 1);
  CHECK(FrameRate(-3) < 0);
}

TEST_CASE("frame rates are read from whole numbers, decimals and fractions") {
  struct Row {
    const char* text;
    FrameRate rate;
  };
  const auto row = GENERATE(
      Row{"25", 25}, Row{"25.0", 25}, Row{"25.000", 25}, Row{"1", 1}, Row{"12.5", {25, 2}},
      Row{"29.97", {30000, 1001}}, Row{"29.970", {30000, 1001}}, Row{"29.97003", {30000, 1001}},
      Row{"23.976", {24000, 1001}}, Row{"23.98", {24000, 1001}}, Row{"23.976024", {24000, 1001}},
      Row{"47.95", {48000, 1001}}, Row{"59.94", {60000, 1001}}, Row{"119.88", {120000, 1001}},
      Row{"29.96", {749, 25}}, Row{"29.971", {29971, 1000}}, Row{"30.0", 30},
      Row{"30000/1001", {30000, 1001}}, Row{"50/2", 25}, Row{"1/2", {1, 2}});
  CAPTURE(row.text);
  REQUIRE(parse_frame_rate(row.text));
  CHECK(*parse_frame_rate(row.text) == row.rate);
  CHECK(parse_frame_rate(text(row.rate)) == row.rate);
}

TEST_CASE("what is not a positive frame rate is not read as one") {
  for (const char* text :
       {"",      "0",   "0.0", "0/1", "-25",         "-1/2",       "1/-2",      "25/0",
        "25/",   "/1",  "25.", ".5",  " 25",         "25 ",        "25fps",     "1/2/3",
        "2.5.0", "nan", "inf", "1e2", "99999999999", "3000000000", "1.23456789"})
    CHECK_FALSE(parse_frame_rate(text));
}

TEST_CASE("a whole frame rate is written as a number, any other as a fraction") {
  CHECK(text(FrameRate(25)) == "25");
  CHECK(text(FrameRate(24000, 1001)) == "24000/1001");
  CHECK(nlohmann::json{{"fps", FrameRate(25)}}.dump() == R"({"fps":25})");
  CHECK(nlohmann::ordered_json{{"fps", FrameRate(24000, 1001)}}.dump() ==
        R"({"fps":"24000/1001"})");
}

TEST_CASE("frames and times convert exactly") {
  struct Row {
    FrameRate rate;
    std::int64_t frame;
    std::int64_t time_ns;  // of the first nanosecond that shows it
  };
  const auto row = GENERATE(
      Row{25, 0, 0}, Row{25, 1, 40'000'000}, Row{25, -1, -40'000'000}, Row{3, 1, 333'333'334},
      Row{3, 2, 666'666'667}, Row{3, -1, -333'333'333}, Row{{30000, 1001}, 1, 33'366'667},
      Row{{30000, 1001}, 30000, 1'001'000'000'000}, Row{{24000, 1001}, 24, 1'001'000'000},
      // A day and a century of it: no drift.
      Row{{30000, 1001}, 2'589'410, 86'399'980'333'334},
      Row{{30000, 1001}, 94'500'000'000, 3'153'150'000'000'000'000});
  CAPTURE(text(row.rate), row.frame);
  CHECK(row.rate.time_of(row.frame) == nanoseconds(row.time_ns));
  CHECK(row.rate.frame_at(nanoseconds(row.time_ns)) == row.frame);
  CHECK(row.rate.frame_at(nanoseconds(row.time_ns - 1)) == row.frame - 1);
}

TEST_CASE("every frame is found again at its own time") {
  const FrameRate rate =
      GENERATE(FrameRate(24000, 1001), FrameRate(30000, 1001), FrameRate(7), FrameRate(1, 3));
  for (std::int64_t frame = -500; frame < 500; ++frame)
    CHECK(rate.frame_at(rate.time_of(frame)) == frame);
}

TEST_CASE("a whole frame rate counts seconds as a division by it does") {
  for (std::int64_t frames = 0; frames < 1000; ++frames) {
    CHECK(FrameRate(25).seconds(frames) == static_cast<double>(frames) / 25);
    CHECK(FrameRate(30).seconds(frames) == static_cast<double>(frames) / 30);
  }
}
