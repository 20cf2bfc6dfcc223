#include "core/artifacts/tries.h"

#include "core/artifacts/retry.h"
#include "core/base/interrupt.h"
#include "core/base/sleep.h"

namespace navtalk {
namespace {

// Of a server that sends a little each time: more tries than any network needs.
constexpr int k_most_tries = 1000;

}  // namespace

bool Tries::again(const Transfer& transfer) {
  throw_if_stopped(stop_);
  if (++failures_ >= most_ || ++tries_ >= k_most_tries) return false;
  const double chance = std::uniform_real_distribution<double>(0, 1)(random_);
  if (!sleep_for(retry_delay(failures_, chance, transfer.retry_after), stop_))
    throw_if_stopped(stop_);
  return true;
}

}  // namespace navtalk
