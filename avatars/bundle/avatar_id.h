// Names of avatars. They become folder names and parts of URLs, so only a narrow set is allowed.
#pragma once

#include <string_view>

namespace navtalk {

// 1 to 64 of A-Z a-z 0-9 . _ -, not starting with a dot or a dash.
bool valid_avatar_id(std::string_view id);
// What valid_avatar_id asks, in words, for messages.
inline constexpr std::string_view k_avatar_id_rule =
    "1 to 64 of the characters A-Z, a-z, 0-9, '.', '_' and '-', not starting with '.' or '-'";

}  // namespace navtalk
