// How events begin or end that concern no single GPU: who reads events tells them by that.
#pragma once

#include <string_view>

namespace navtalk::notice {

inline constexpr std::string_view k_creation_paused =
    "creation in the cloud is paused: ";                                   // begins
inline constexpr std::string_view k_outage_begins = ": an outage begins";  // ends
inline constexpr std::string_view k_outage_over = ": the outage is over";  // ends
inline constexpr std::string_view k_sessions_break =
    ": sessions break on most GPUs, whose workers answer well: none is failed";  // ends

}  // namespace navtalk::notice
