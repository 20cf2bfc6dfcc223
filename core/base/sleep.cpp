#include "core/base/sleep.h"

#include <condition_variable>
#include <mutex>

namespace navtalk {

bool sleep_for(std::chrono::nanoseconds time, const std::stop_token& stop) {
  std::mutex mutex;
  std::condition_variable_any never;
  std::unique_lock lock(mutex);
  never.wait_for(lock, stop, time, [] { return false; });
  return !stop.stop_requested();
}

}  // namespace navtalk
