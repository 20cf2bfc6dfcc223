// How much a picture or a recording may hold. A few kilobytes can describe gigabytes, so sizes are
// checked before anything is decoded.
#pragma once

#include <cstdint>
#include <string>
#include <utility>

#include "core/base/error.h"

namespace navtalk {

struct MediaLimits {
  std::int64_t max_pixels = 25'000'000;  // of one picture or video frame, width times height
  double max_duration_s = 3'600;         // of sound or video
};

// Error{invalid} for sound or video that exceeds a limit; which one.
class BeyondLimit : public Error {
 public:
  BeyondLimit(std::string rule, std::string message)
      : Error(Code::invalid, std::move(message)), rule_(std::move(rule)) {}

  const std::string& rule() const { return rule_; }

 private:
  std::string rule_;
};

}  // namespace navtalk
