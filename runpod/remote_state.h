// How Runpod's view of a pod, the worker's own word and what we asked for make one of our states.
// Pure. Nothing of it decides routing: that is the worker's own probe.
//
//   Runpod says                          becomes
//   PROVISIONING, STARTING               starting
//   RUNNING, never yet healthy           starting
//   RUNNING, probe good                  idle, or running when it has sessions
//   RUNNING, was healthy, probe fails    as it was, without new work; failed after the grace
//   EXITED, a stop was asked for         paused
//   EXITED otherwise                     failed: exited
//   ERROR                                failed: error
//   TERMINATED or absent, as asked       removed
//   TERMINATED or absent otherwise       failed: gone
//   an unknown word, or no answer        as it was, stale
#pragma once

#include <optional>
#include <string>

#include "core/base/time.h"
#include "runpod/api/messages.h"
#include "scheduler/pool/state.h"
#include "scheduler/provision/provider.h"

namespace navtalk::runpod {

struct RemoteView {
  std::optional<PodStatus> status{};  // nullopt: the API was not reached
  bool absent = false;                // confirmed: missing from two complete lists
  bool stop_asked = false, removal_asked = false;
  bool was_ready = false;  // has been proven ready since it was last started
  bool probe_good = false;
  int sessions = 0;
  Duration probe_failing{};  // for how long
  Duration probe_grace = std::chrono::seconds(15);
};

struct RemoteVerdict {
  enum class Kind { keep, become, removed } kind = Kind::keep;
  State state = State::starting;  // become
  std::string_view reason{};      // failed: why
  bool stale = false;             // keep: nobody knows
  bool new_work = true;           // may it be claimed?

  friend bool operator==(const RemoteVerdict&, const RemoteVerdict&) = default;
};

RemoteVerdict judge(const RemoteView& view);
// The provider's half of it, for lists.
Instance::Status instance_status(PodStatus status);

}  // namespace navtalk::runpod
