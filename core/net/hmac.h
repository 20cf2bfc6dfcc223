// HMAC-SHA-256 (RFC 2104). Stateless.
#pragma once

#include <string>
#include <string_view>

namespace navtalk {

// 64 lower-case hexadecimal digits. Error{failed} where OpenSSL does not offer it.
std::string hmac_sha256_hex(std::string_view secret, std::string_view text);
// Whether two texts are equal, in a time that says nothing about where they differ.
bool equal_in_constant_time(std::string_view a, std::string_view b);

}  // namespace navtalk
