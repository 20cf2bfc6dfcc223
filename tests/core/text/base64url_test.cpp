#include "core/text/base64url.h"

#include <catch2/catch.hpp>

using namespace navtalk;

TEST_CASE("base64url is that of RFC 4648, without padding") {
  const std::pair<std::string, std::string> vectors[] = {
      {"", ""},           {"f", "Zg"},          {"fo", "Zm8"},          {"foo", "Zm9v"},
      {"foob", "Zm9vYg"}, {"fooba", "Zm9vYmE"}, {"foobar", "Zm9vYmFy"}, {"\xfb\xff\xfe", "-__-"}};
  for (const auto& [bytes, text] : vectors) {
    CHECK(base64url(bytes) == text);
    CHECK(from_base64url(text) == bytes);
  }
}

TEST_CASE("text that base64url does not make is refused") {
  for (const char* const text : {"Z", "Zg=", "Zg==", "Zh", "Zm9", "Zm9vZ", "Zm 9", "+/+/"}) {
    INFO(text);
    CHECK_FALSE(from_base64url(text));
  }
}
