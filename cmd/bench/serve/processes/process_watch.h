// What the gateway and its workers use at some moments of a run, as far as they are processes of this
// machine and user. One owner, one thread at a time.
#pragma once

#include <sys/types.h>

#include <array>
#include <chrono>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cmd/bench/serve/processes/gateway_access.h"
#include "cmd/bench/serve/processes/process_use.h"

namespace navtalk::cmd {

enum class Moment { before, opened, played, after };
inline constexpr std::array<std::string_view, 4> k_moment_names = {"before", "opened", "played",
                                                                   "after"};

struct WatchedProcess {
  std::string name{};     // "gateway", "worker 1"
  std::string in_pool{};  // the worker's name there
  pid_t pid = 0;
  std::array<std::optional<ProcessUse>, k_moment_names.size()> uses{};

  const std::optional<ProcessUse>& use(Moment moment) const {
    return uses[static_cast<std::size_t>(moment)];
  }
};

class ProcessWatch {
 public:
  explicit ProcessWatch(GatewayAccess& gateway);

  void look(Moment moment);
  // Looks until no process has over four threads or descriptors more than before, at most so long. False:
  // one has more.
  bool settle(std::chrono::seconds within, const std::stop_token& stop);

  const std::vector<WatchedProcess>& processes() const { return processes_; }
  // Between two moments, in seconds.
  double time_between(Moment from, Moment to) const;

 private:
  std::vector<WatchedProcess> processes_;
  std::array<std::chrono::steady_clock::time_point, k_moment_names.size()> times_{};
};

// Processor time of a process between two moments, in seconds; 0 where it is not known.
double processor_between(const WatchedProcess& process, Moment from, Moment to);

}  // namespace navtalk::cmd
