// The one error after which this process can do nothing more with a device: all that it has there is gone, and every further call fails.
#pragma once

#include <string>
#include <utility>

#include "core/base/error.h"

namespace navtalk {

class DeviceLost : public Error {
 public:
  explicit DeviceLost(std::string message) : Error(Code::failed, std::move(message)) {}
};

}  // namespace navtalk
