#include "core/text/number.h"

#include <catch2/catch.hpp>
#include <cstdint>
#include <string>

using navtalk::parse_number;
using navtalk::take_number;

TEST_CASE("a number is the whole of its text") {
  CHECK(parse_number<int>("42") == 42);
  CHECK(parse_number<int>("-7") == -7);
  CHECK(parse_number<double>("2.5e3") == 2500.0);
  CHECK(parse_number<std::uint64_t>("18446744073709551615") == UINT64_MAX);
  CHECK(parse_number<unsigned>("1F90", 16) == 8080U);
  for (const char* text : {"", " 1", "1 ", "+1", "1.5", "0x10", "one", "-", "2147483648"})
    CHECK_FALSE(parse_number<int>(text));
  for (const char* text : {"", "nan", "inf", "-inf", "1e999", "1,5", "1.5s"})
    CHECK_FALSE(parse_number<double>(text));
  CHECK_FALSE(parse_number<unsigned>("-1"));
}

TEST_CASE("a number is taken off the start of a text, which stays when there is none") {
  std::string_view text = "12,x";
  CHECK(take_number<int>(text) == 12);
  CHECK(text == ",x");
  CHECK_FALSE(take_number<int>(text));
  CHECK(text == ",x");
  text = "nan";
  CHECK_FALSE(take_number<double>(text));
  CHECK(text == "nan");
}
