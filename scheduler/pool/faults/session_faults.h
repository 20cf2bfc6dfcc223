// What the pool remembers of sessions that fail at workers whose /healthz is good: their faults, and
// the sessions that last beside them. The gateways of a pool collect both in one place, a setting of
// the store; session_verdict.h says what they mean. Not thread-safe; a value.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "scheduler/pool/pool_store.h"
#include "scheduler/pool/settings.h"

namespace navtalk {

struct SessionFault {
  enum class Kind : std::uint8_t {
    cut,          // it was ready, and its connection broke
    not_started,  // the worker was asked, and the session did not become ready
    declined,     // the worker said no in its own words, before it knew what the client wants
  };
  GpuId gpu{};
  Origin origin = Origin::local;
  std::string client{};  // whoever had the session, as far as the gateway can tell users apart
  Kind kind = Kind::cut;
  TimePoint at{};
  bool client_well = false;  // the client has had a session since that lasted
  // From the claim to the cut, of a session that had lasted (FaultRules::lasting): a late cut. Zero for
  // all other faults.
  Duration age{};
  Duration early_age{};  // the same of a cut of a session that had not lasted

  friend bool operator==(const SessionFault&, const SessionFault&) = default;
};

// A session that lasted, and was not cut in the end, or goes on.
struct LastedSession {
  GpuId gpu{};
  Origin origin = Origin::local;
  TimePoint began{}, until{};  // the claim; its end, or now

  Duration length() const { return until - began; }

  friend bool operator==(const LastedSession&, const LastedSession&) = default;
};

class SessionFaults {
 public:
  SessionFaults() = default;
  explicit SessionFaults(std::vector<SessionFault> oldest_first,
                         std::vector<LastedSession> lasted = {})
      : faults_(std::move(oldest_first)), lasted_(std::move(lasted)) {}

  const std::vector<SessionFault>& all() const { return faults_; }
  // The latest of each GPU.
  const std::vector<LastedSession>& lasted() const { return lasted_; }
  // Keeps a few dozen of each GPU, with their times as wide apart as they came, and the latest few
  // hundred in all.
  void add(SessionFault fault);
  // A session of that client lasted: the GPU has no faults from before, except for late cuts of sessions
  // that had gone on for longer; and the client's network is well. `cut`: it was cut in the end, so that
  // it proves nothing about the network of now, and clears no late cut.
  void note_lasted(const LastedSession& session, const std::string& client, bool cut);
  void forget(TimePoint before);
  // Would note_lasted() change something that matters?
  bool concerns(const LastedSession& session, const std::string& client) const;

 private:
  void drop_the_densest(const GpuId& gpu);

  std::vector<SessionFault> faults_{};
  std::vector<LastedSession> lasted_{};
};

std::string as_text(const SessionFaults& faults);
std::optional<SessionFaults> parse_session_faults(std::string_view text);

inline constexpr Setting<SessionFaults> k_session_faults{setting_name::k_session_faults, as_text,
                                                         parse_session_faults};

}  // namespace navtalk
