// Bytes as text that may stand in URLs and header fields: base64 with '-' and '_', without padding
// (RFC 4648, section 5). Pure.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace navtalk {

std::string base64url(std::string_view bytes);
// nullopt for text that base64url() does not make.
std::optional<std::string> from_base64url(std::string_view text);

}  // namespace navtalk
