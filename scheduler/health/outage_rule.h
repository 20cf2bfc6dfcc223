// Tells a fault of the network from one of a GPU, by how many GPUs of a source miss their probes. Pure,
// thread-safe.
//
//   a GPU is lost: three misses in a row, and the grace time since the first of them
//   at least three GPUs of the source and more than half of them miss:   an outage begins
//   more than half of one to three cloud GPUs, for less than ten minutes: an outage begins
//   no longer so many miss, or those few for so long:                    it ends
//
// One or two can both be at fault by accident, so that they are given a bounded time: as long as their
// provider says that they run, they are destroyed only after it. One dead GPU beside one that answers
// is lost as any other.
//
// During an outage no GPU of the source is lost, and none that failed for its silence is destroyed;
// afterwards the grace time begins again. A GPU misses from its second miss in a row on (one alone is
// nothing special), in an outage until it answers. One that failed for its silence not longer than the
// grace time ago, or before the outage began, still counts.
#pragma once

#include <span>

#include "scheduler/pool/faults/outage.h"

namespace navtalk {

struct SourceAnswers {
  int gpus = 0;     // that serve, or failed for their silence
  int missing = 0;  // of them
  int lately = 0;   // of the missing, cloud GPUs that have been silent for less than ten minutes

  friend bool operator==(const SourceAnswers&, const SourceAnswers&) = default;
};
SourceAnswers count_answers(std::span<const Gpu> gpus, Source source, const Outage& outage,
                            Duration grace, TimePoint now);

// The outage after that count.
Outage judge(const Outage& before, const SourceAnswers& answers, TimePoint now);

// Is it lost, as far as its own misses say?
bool misses_too_many(const Gpu& gpu, Duration grace, TimePoint now);
// Is it lost? `outage` is that of its source.
bool is_lost(const Gpu& gpu, const Outage& outage, Duration grace, TimePoint now);

}  // namespace navtalk
