#include "core/base/environment.h"

#include <cstdlib>

namespace navtalk {

std::string environment_value(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

}  // namespace navtalk
