#include "core/text/trim.h"

#include <catch2/catch.hpp>

using navtalk::trim;

TEST_CASE("trim takes blanks and line ends from both ends and none from the middle") {
  CHECK(trim(" \t a b\r\n") == "a b");
  CHECK(trim("ab") == "ab");
  CHECK(trim(" \n\t").empty());
  CHECK(trim("").empty());
}
