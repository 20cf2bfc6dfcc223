// Percent-encoding of URLs (RFC 3986). Stateless.
#pragma once

#include <string>
#include <string_view>

namespace navtalk {

// Text as one segment of a path, or one value of a query: every byte but letters, digits, '-', '_'
// and '.' becomes %XX. Dots alone ("..") would be a step in a path: there they are encoded too.
std::string percent_encoded(std::string_view text);

}  // namespace navtalk
