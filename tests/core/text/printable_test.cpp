#include "core/text/printable.h"

#include <catch2/catch.hpp>

using navtalk::is_utf8;
using navtalk::printable;
using namespace std::string_literals;

TEST_CASE("a printable name is one line without control characters") {
  CHECK(printable("plain name") == "plain name");
  CHECK(printable("caf\xC3\xA9 \xE6\x97\xA5 \xF0\x9F\x98\x80") ==
        "caf\xC3\xA9 \xE6\x97\xA5 \xF0\x9F\x98\x80");
  CHECK(printable("a\r\nb\tc\\d") == "a\\r\\nb\\tc\\\\d");
  CHECK(printable("\x1b[31m\x7f"s) == "\\x1b[31m\\x7f");
  CHECK(printable("\xC2\x9B") == "\\xc2\\x9b");
  CHECK(printable("\0x"s) == "\\x00x");
  CHECK(printable("bad\xFFz") == "bad\\xffz");
}

TEST_CASE("only well-formed UTF-8 is UTF-8") {
  CHECK(is_utf8(""));
  CHECK(is_utf8("caf\xC3\xA9"));
  CHECK(is_utf8("\xF4\x8F\xBF\xBF"));
  CHECK_FALSE(is_utf8("\xC0\x80"));          // not the shortest form
  CHECK_FALSE(is_utf8("\xE0\x9F\xBF"));      // not the shortest form
  CHECK_FALSE(is_utf8("\xED\xA0\x80"));      // a surrogate
  CHECK_FALSE(is_utf8("\xF4\x90\x80\x80"));  // above U+10FFFF
  CHECK_FALSE(is_utf8("\xE6\x97"));          // cut off
  CHECK_FALSE(is_utf8("\x80"));              // a continuation alone
}

TEST_CASE("of a long text the beginning is shown, and how long it was") {
  CHECK(navtalk::printable_start("short\n", 6) == "short\\n");
  CHECK(navtalk::printable_start("shorter", 6) == "shorte... (7 bytes)");
  CHECK(navtalk::printable_start("abcd\xC3\xA4", 5) == "abcd... (6 bytes)");  // no half characters
  CHECK(navtalk::printable_start(std::string(100, '\x80'), 2) == "\\x80\\x80... (100 bytes)");
}

TEST_CASE("a library's message of several lines becomes one readable line") {
  CHECK(navtalk::printable_line("connection failed: refused\n\tIs the server running?\r\n") ==
        "connection failed: refused Is the server running?");
  CHECK(navtalk::printable_line("  a  b\x1b[0m\\") == "a b\\x1b[0m\\");
  CHECK(navtalk::printable_line("\n\t ") == "");
}
