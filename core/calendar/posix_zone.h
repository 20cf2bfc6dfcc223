// The rule of a time zone in the POSIX form of TZ, with the extensions of RFC 9636: hours from -167 to
// 167. Stateless.
#pragma once

#include <string_view>

#include "core/calendar/time_zone.h"

namespace navtalk {

// Error{invalid} for another form.
TimeZone::Rule parse_posix_zone(std::string_view text);
// East of UTC, at that time under the rule.
std::chrono::seconds offset_by(const TimeZone::Rule& rule, TimeZone::Instant time);

}  // namespace navtalk
