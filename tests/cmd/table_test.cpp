#include "cmd/terminal/table.h"

#include <catch2/catch.hpp>

#include "cmd/terminal/progress_bar.h"

using namespace navtalk::cmd;

TEST_CASE("columns are aligned by characters, not bytes, and lines end without spaces") {
  using enum Column::Align;
  CHECK(table({{"name", left}, {"ms", right}}, {{"caf\xC3\xA9", "1"}, {"x", "12.5"}, {"alone"}}) ==
        "name     ms\n"
        "caf\xC3\xA9      1\n"
        "x      12.5\n"
        "alone\n");
}

TEST_CASE("a heading may be bold, rows never are") {
  CHECK(table({{"a"}}, {{"b"}}, true) == "\x1b[1ma\x1b[0m\nb\n");
}

TEST_CASE("a progress line shows share, counts and the time that is left") {
  using std::chrono::seconds;
  const auto line = [](std::size_t done, std::size_t total, seconds elapsed, std::size_t columns) {
    return progress_line({.stage = "decoding", .done = done, .total = total, .elapsed = elapsed},
                         columns);
  };
  CHECK(line(1, 4, seconds(20), 80) == "decoding  [######..................]   25%  1/4  eta 1:00");
  CHECK(line(4, 4, seconds(20), 80) == "decoding  [########################]  100%  4/4");
  CHECK(line(0, 4, seconds(0), 80) == "decoding  [........................]    0%  0/4");
  CHECK(line(17, 0, seconds(9), 80) == "decoding  17");
  CHECK(line(1, 4, seconds(20), 12) == "decoding  [#");
  CHECK(progress_line(
            {.stage = "rendering", .done = 75'000, .total = 2'400'000, .unit = ProgressUnit::video},
            80) == "rendering  [........................]    3%  1.25/40.00 video-minutes");
}

TEST_CASE("the time that is left is unknown until the speed is known") {
  using std::chrono::milliseconds;
  ProgressStep step{.stage = "rendering", .done = 8, .total = 100, .first = 8};
  CHECK_FALSE(time_left(step));  // the first report
  step.done = 12;
  step.elapsed = milliseconds(50);
  CHECK_FALSE(time_left(step));
  step.elapsed = milliseconds(2000);  // 4 in 2 s, whatever was there before
  REQUIRE(time_left(step));
  CHECK(time_left(step)->count() == Approx(44));
  CHECK(progress_json(step) ==
        R"({"stage":"rendering","done":12,"total":100,"elapsed_s":2.0,"eta_s":44.0})");
  step.total = 0;
  CHECK(progress_json(step) ==
        R"({"stage":"rendering","done":12,"total":null,"elapsed_s":2.0,"eta_s":null})");
}

TEST_CASE("the next of several videos has a time left of its own") {
  using std::chrono::seconds;
  const ProgressSteps::Clock::time_point start{};
  for (const std::size_t frames : {1, 2, 100}) {
    ProgressSteps steps(ProgressStyle::bar, start);
    for (std::size_t i = 1; i <= frames; ++i)  // a second each
      steps.take("rendering", i, frames, start + seconds(i));
    const auto begun = start + seconds(frames + 10);  // the model was loaded
    const auto first = steps.take("rendering", 1, 100, begun);
    REQUIRE(first);
    CHECK_FALSE(time_left(*first));
    const auto later = steps.take("rendering", 3, 100, begun + seconds(2));
    REQUIRE(later);
    CHECK(time_left(*later)->count() == Approx(97));
  }
}

TEST_CASE("progress in a pipe is a line every five seconds, and as JSON two a second") {
  using std::chrono::milliseconds;
  const ProgressSteps::Clock::time_point start{};
  const auto shown = [&](ProgressStyle style) {
    ProgressSteps steps(style, start);
    std::vector<std::size_t> at;
    for (std::size_t i = 1; i <= 120; ++i)  // ten a second
      if (steps.take("rendering", i, 120, start + milliseconds(100 * i))) at.push_back(i);
    return at;
  };
  CHECK(shown(ProgressStyle::lines) == std::vector<std::size_t>{50, 100});
  const std::vector<std::size_t> json = shown(ProgressStyle::json);
  CHECK(json.size() == 25);
  CHECK(json.front() == 1);
  CHECK(json[1] == 6);
  CHECK(json.back() == 120);
  CHECK(shown(ProgressStyle::bar).size() == 120);
  CHECK(shown(ProgressStyle::none).empty());
}
