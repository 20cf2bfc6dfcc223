// What the batch lane can render. A plain value.
#pragma once

namespace navtalk {

struct BatchCapacity {
  double gpus = 0;           // most that the lane may have
  double rate = 0;           // video-minutes that one GPU renders in a minute, learnt
  double utilisation = 0.8;  // of the GPUs, on which the division counts

  // The budget of all tenants, in video-minutes a minute.
  double budget() const { return utilisation * gpus * rate; }

  friend bool operator==(const BatchCapacity&, const BatchCapacity&) = default;
};

}  // namespace navtalk
