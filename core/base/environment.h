// The process's environment, read only. Thread-safe while nobody changes it.
#pragma once

#include <string>

namespace navtalk {

// A variable's value; empty when it is not set.
std::string environment_value(const char* name);

}  // namespace navtalk
