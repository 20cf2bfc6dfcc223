// What JobStore::submit() and asked_before() throw for another job under a key that was used before.
#pragma once

#include <string>
#include <utility>

#include "core/base/error.h"

namespace navtalk {

class IdempotencyConflict : public Error {
 public:
  explicit IdempotencyConflict(std::string message) : Error(Code::invalid, std::move(message)) {}
};

}  // namespace navtalk
