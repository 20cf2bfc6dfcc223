// Who is to blame for sessions that fail at workers whose /healthz is good? A session that is cut, or
// does not start, is the fault of a network, a client, a gateway or a worker, and one alone does not
// tell which. So a GPU is blamed only for a series, and only in comparison with the other GPUs of its
// provider. A worker that does not answer well is not judged here: its row counts a miss, and the
// prober decides.
//
//   a series     of the GPU's faults of the last `window` since a session last lasted on it:
//                `occasions` with its own refusals of a session; or `occasions` with `clients`
//                different clients; or, with fewer clients, `few_occasions` over `few_span`.
//                Faults within `same_occasion` are one occasion: a proxy that restarts cuts many
//                sessions at once.
//   the path     A cut that takes all sessions of a GPU at once, those of `together` clients or more,
//                while its worker answers well, does not count in a series: a proxy or a network ended
//                them. A GPU of `lone_occasions` of `lone_clients` clients over `lone_span` has a
//                series all the same: users cannot be served there. Not for local GPUs.
//   no part      are faults of a client that failed on `spread` GPUs and has had no session that
//                lasted since: its network or its request is what fails.
//   breaking     a GPU with `alike_occasions` or more since a session last lasted on it.
//   working      any other GPU on which a session lasts that began after the first fault of the
//                breaking ones: it goes on, or ended well after their last occasion but one. It has
//                outlived the usual (median) cut of theirs.
//   outlived     a session has gone on for `outlive_share` longer than a cut one, `outlive_least` at
//                the least. Both count from their claim, and a proxy that ends every connection at one
//                age ends none much later than the others.
//
//   breaking GPUs of the provider      working     a GPU with a series, which is one of them
//   two or more, of `clients` clients  fewer       is well: the network or the gateway is at fault
//   two or more, of fewer clients      fewer       may be well
//   one or more                        as many     is to blame
//   only this one                      none        is to blame for its own refusals, or for
//                                                  `lone_occasions` of `lone_clients` clients over
//                                                  `lone_span`, and a local one, behind no network,
//                                                  for `few_occasions` over `few_span`; else it
//                                                  may be well
//
// Late cuts, of sessions that had lasted, are judged apart, because a proxy may end every connection at
// some age:
//
//   a series     `occasions` with `clients` different clients, early or late, since a session on the GPU
//                outlived the late ones; a local GPU also as above for fewer clients.
//   breaking     as above, by faults of any age.
//   working      as above, by sessions that outlived the cuts of the series.
//
// The GPU is to blame where as many work as break, one at least; a local one also where none breaks
// beside it. No session goes on there that outlived the series.
//
// Whether a GPU that is to blame fails is the allocator's decision: for early faults not while a session
// lives on there. Pure, except for the functions that read the store.
#pragma once

#include <optional>
#include <vector>

#include "scheduler/pool/faults/session_faults.h"

namespace navtalk {

struct FaultRules {
  Duration window = std::chrono::minutes(10);
  Duration lasting = std::chrono::seconds(30);  // from ready on; a cut after that is a late one
  Duration same_occasion = std::chrono::seconds(3);
  int occasions = 3, clients = 3, spread = 3;
  int few_occasions = 8;
  Duration few_span = std::chrono::minutes(2);
  int together = 2;
  int alike_occasions = 2;
  int lone_occasions = 8, lone_clients = 6;
  Duration lone_span = std::chrono::minutes(4);
  double outlive_share = 0.2;
  Duration outlive_least = std::chrono::seconds(5);
};

enum class SessionVerdict : std::uint8_t {
  none,     // too little is known, or its clients fail
  network,  // of the network or the gateway: the sessions of other GPUs break too
  worker,
  worker_late,  // the worker, for late cuts: sessions may go on there that are about to be cut
};
// Is the worker to blame?
constexpr bool blames_worker(SessionVerdict verdict) {
  return verdict == SessionVerdict::worker || verdict == SessionVerdict::worker_late;
}

// `living`: the sessions that go on and have lasted, of any GPU.
SessionVerdict judge_sessions(const SessionFaults& faults, const GpuId& gpu, Origin origin,
                              const std::vector<LastedSession>& living, TimePoint now,
                              const FaultRules& rules);
// Do sessions break on most GPUs of the provider that have any, early, or late at an age that none outlives?
bool sessions_break(const SessionFaults& faults, Origin origin,
                    const std::vector<LastedSession>& living, TimePoint now,
                    const FaultRules& rules);

std::vector<LastedSession> living_sessions(PoolStore& store, const FaultRules& rules = {});
// Is the GPU to blame now? One that failed for it does not return because its /healthz is good.
bool blamed_for_sessions(PoolStore& store, const Gpu& gpu, const FaultRules& rules = {});

}  // namespace navtalk
