// What the batch lane can render. A plain value.
#pragma once

namespace navtalk {

struct BatchCapacity {
  double gpus = 0;           // at most, of the lane
  double rate = 0;           // video-minutes that one GPU renders in a minute, as measured
  double utilisation = 0.8;  // the part of the GPUs that the division plans with

  // The budget of all tenants, in video-minutes a minute.
  double budget() const { return utilisation * gpus * rate; }

  friend bool operator==(const BatchCapacity&, const BatchCapacity&) = default;
};

}  // namespace navtalk
