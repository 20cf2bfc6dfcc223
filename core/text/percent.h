// Percent-encoding of URLs (RFC 3986). Stateless.
#pragma once

#include <string>
#include <string_view>

namespace navtalk {

// Text as one segment of a path, or one value of a query: every byte but letters, digits, '-' and
// '_' becomes %XX. Dots too: whoever decodes a path before it resolves ".." meets none.
std::string percent_encoded(std::string_view text);

}  // namespace navtalk
