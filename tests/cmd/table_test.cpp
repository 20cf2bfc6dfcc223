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
  CHECK(progress_line("decoding", 1, 4, seconds(20), 80) ==
        "decoding  [######..................]   25%  1/4  eta 1:00");
  CHECK(progress_line("decoding", 4, 4, seconds(20), 80) ==
        "decoding  [########################]  100%  4/4");
  CHECK(progress_line("decoding", 0, 4, seconds(0), 80) ==
        "decoding  [........................]    0%  0/4");
  CHECK(progress_line("looking", 17, 0, seconds(9), 80) == "looking  17");
  CHECK(progress_line("decoding", 1, 4, seconds(20), 12) == "decoding  [#");
}
