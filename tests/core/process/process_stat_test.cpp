#include "core/process/process_stat.h"

#include <catch2/catch.hpp>

namespace navtalk {

TEST_CASE("a process's line in /proc is read, whatever its name") {
  const std::string behind =
      " S 1 2 3 0 -1 4194560 5 6 7 8 250 50 0 0 20 0 9 0 12345 1000000 256 18446744073709551615";
  const auto stat = parse_process_stat("77 (a ) b (c)" + behind);
  REQUIRE(stat);
  CHECK(stat->state == 'S');
  CHECK(stat->processor_ticks == 300);
  CHECK(stat->threads == 9);
  CHECK(stat->start_ticks == 12345);
  CHECK(stat->resident_pages == 256);
}

TEST_CASE("other text than a process's line in /proc is not read") {
  CHECK_FALSE(parse_process_stat(""));
  CHECK_FALSE(parse_process_stat("77 (name) S 1 2"));
  CHECK_FALSE(
      parse_process_stat("77 (name) S 1 2 3 0 -1 4194560 5 6 7 8 a 50 0 0 20 0 9 0 1 1 1 1"));
}

}  // namespace navtalk
