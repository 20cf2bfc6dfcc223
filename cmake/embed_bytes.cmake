# Run with -P at build time: writes OUT, a source that includes HEADER and defines navtalk::FUNCTION(), the bytes of FILE.
file(READ ${FILE} bytes HEX)
string(REGEX REPLACE "(..)" "0x\\1," bytes "${bytes}")
file(CONFIGURE OUTPUT ${OUT} @ONLY CONTENT [[
// Made by cmake/embed_bytes.cmake.
#include "@HEADER@"

namespace navtalk {
namespace {

constexpr unsigned char k_bytes[] = {@bytes@};

}  // namespace

std::span<const unsigned char> @FUNCTION@() { return k_bytes; }

}  // namespace navtalk
]])
