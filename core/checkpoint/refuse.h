// How readers refuse a checkpoint: the caller adds the file's name to the cause. Stateless.
#pragma once

#include <string>

#include "core/base/error.h"

namespace navtalk {

[[noreturn]] inline void refuse(const std::string& cause) { throw Error(Code::invalid, cause); }

}  // namespace navtalk
