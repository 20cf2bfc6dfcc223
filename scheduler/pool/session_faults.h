// Who is to blame for sessions that fail at workers whose /healthz is good? A session that is cut, or
// does not start, is the fault of a network, a client or a worker, and one alone does not tell which.
// So the gateways of a pool collect such faults in one place, a setting of the store, and a GPU is
// blamed only for a series. A worker that does not answer well is not judged here: its row counts a
// miss, and the prober decides.
//
//   counted      the GPU's faults of the last `window` since a session last lasted on it.
//                Faults within `same_occasion` are one occasion: a proxy that restarts cuts many
//                sessions at once.
//   not counted  faults of a client that failed on `spread` GPUs and has had no session that lasted
//                since: its network or its request is what fails.
//   blamed       for `occasions` with its own refusals of a session; or for `occasions` with
//                `clients` different clients; or, with fewer clients, for `alone_occasions` over
//                `alone_span`.
//
// Whether a blamed GPU fails is the allocator's decision: not while a session lives on there. Pure,
// except for the setting.
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
  std::string client{};  // whoever had the session, as far as the gateway can tell users apart
  Kind kind = Kind::cut;
  TimePoint at{};
  bool client_well = false;  // the client has had a session since that lasted

  friend bool operator==(const SessionFault&, const SessionFault&) = default;
};

struct FaultRules {
  Duration window = std::chrono::minutes(5);
  Duration lasting =
      std::chrono::seconds(30);  // from ready on; a session that is cut later is none
  Duration same_occasion = std::chrono::seconds(3);
  int occasions = 3, clients = 3, spread = 3;
  int alone_occasions = 8;
  Duration alone_span = std::chrono::minutes(2);
};

class SessionFaults {
 public:
  SessionFaults() = default;
  explicit SessionFaults(std::vector<SessionFault> oldest_first)
      : faults_(std::move(oldest_first)) {}

  const std::vector<SessionFault>& all() const { return faults_; }
  // Keeps the latest few hundred.
  void add(SessionFault fault);
  // A session of that client lasted on that GPU.
  void lasted(const GpuId& gpu, const std::string& client);
  void forget(TimePoint before);
  bool concerns(const GpuId& gpu, const std::string& client) const;
  bool blame(const GpuId& gpu, TimePoint now, const FaultRules& rules) const;

 private:
  bool counts(const SessionFault& fault, const GpuId& gpu, TimePoint now,
              const FaultRules& rules) const;

  std::vector<SessionFault> faults_{};
};

std::string as_text(const SessionFaults& faults);
std::optional<SessionFaults> parse_session_faults(std::string_view text);

inline constexpr Setting<SessionFaults> k_session_faults{setting_name::k_session_faults, as_text,
                                                         parse_session_faults};

// Is the GPU blamed now? One that failed for it does not return because its /healthz is good.
bool blamed_for_sessions(PoolStore& store, const GpuId& gpu, const FaultRules& rules = {});

}  // namespace navtalk
