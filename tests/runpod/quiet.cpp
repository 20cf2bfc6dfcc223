// What the provider logs of the faults that these tests make is no news.
#include "core/log/log.h"

namespace {
const bool k_quiet = [] {
  navtalk::log::start("off", "text", false);
  return true;
}();
}
