#include "scheduler/forecast/erlang.h"

#include <cmath>

#include "core/base/check.h"

namespace navtalk {
namespace {

// C from B: an arrival that waits rather than leaves.
double waits(double loss, int servers, double offered_load) {
  const double load = offered_load / servers;
  return load >= 1 ? 1 : loss / (1 - load * (1 - loss));
}

}  // namespace

double erlang_c(int servers, double offered_load) {
  NAVTALK_CHECK(servers >= 0 && offered_load >= 0);
  if (offered_load == 0) return 0;
  if (servers <= offered_load) return 1;
  double loss = 1;
  for (int n = 1; n <= servers; ++n) loss = offered_load * loss / (n + offered_load * loss);
  return waits(loss, servers, offered_load);
}

int least_servers(double offered_load, double wait_probability) {
  NAVTALK_CHECK(offered_load >= 0 && wait_probability > 0 && wait_probability <= 1);
  if (offered_load == 0) return 0;
  double loss = 1;
  for (int n = 1;; ++n) {
    loss = offered_load * loss / (n + offered_load * loss);
    if (n > offered_load && waits(loss, n, offered_load) <= wait_probability) return n;
  }
}

double erlang_wait_longer(int servers, double offered_load, double wait) {
  const double c = erlang_c(servers, offered_load);
  return servers <= offered_load ? 1 : c * std::exp(-(servers - offered_load) * wait);
}

}  // namespace navtalk
