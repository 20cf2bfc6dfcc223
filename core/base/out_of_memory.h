// The one error after which less of the same may succeed: a device has no memory for so much at once.
#pragma once

#include <string>
#include <utility>

#include "core/base/error.h"

namespace navtalk {

class OutOfMemory : public Error {
 public:
  explicit OutOfMemory(std::string message) : Error(Code::failed, std::move(message)) {}
};

}  // namespace navtalk
