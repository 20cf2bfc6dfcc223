// Distinguishes a fault of the network from a fault of one GPU, by how many GPUs of one provider miss
// their probes. Pure, thread-safe.
//
//   a GPU is lost: three misses in a row, and the grace time since the first of them
//   at least three GPUs of the provider and more than half of them miss:   an outage begins
//   more than half of one to three cloud GPUs, for less than ten minutes: an outage begins
//   no longer so many miss, or those few for so long:                    it ends
//
// One GPU, or two, can also fail by themselves at the same time, so an outage of so few ends after ten
// minutes: until then they are not destroyed, as long as their provider says that they run. One dead
// GPU beside one that answers is not an outage.
//
// During an outage no GPU of the provider is lost, and none that failed because it did not answer is
// destroyed; afterwards the grace time begins again. A GPU counts as missing from its second miss in a
// row on, and during an outage until it answers. A GPU that failed because it did not answer still
// counts when it failed within the last grace time, or before the outage began.
#pragma once

#include <span>

#include "scheduler/pool/faults/outage.h"

namespace navtalk {

struct OriginAnswers {
  int gpus = 0;     // that serve, or failed because they did not answer
  int missing = 0;  // of them
  int lately = 0;   // of the missing, cloud GPUs that have not answered for less than ten minutes

  friend bool operator==(const OriginAnswers&, const OriginAnswers&) = default;
};
OriginAnswers count_answers(std::span<const Gpu> gpus, Origin origin, const Outage& outage,
                            Duration grace, TimePoint now);

// The outage after that count.
Outage judge(const Outage& before, const OriginAnswers& answers, TimePoint now);

// Is it lost, as far as its own misses say?
bool misses_too_many(const Gpu& gpu, Duration grace, TimePoint now);
// Is it lost? `outage` is that of its provider.
bool is_lost(const Gpu& gpu, const Outage& outage, Duration grace, TimePoint now);

}  // namespace navtalk
