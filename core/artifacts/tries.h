// How often one request is repeated, and the pauses between. One owner, one thread.
#pragma once

#include <random>
#include <stop_token>

#include "core/artifacts/source.h"

namespace navtalk {

class Tries {
 public:
  // `failures`: in a row, without progress between them. The token outlives this.
  Tries(int failures, const std::stop_token& stop) : most_(failures), stop_(stop) {}

  // Waits before the next try; false when there were enough. Error{interrupted} or Error{terminated} on
  // a stop request.
  bool again(const Transfer& transfer);
  void progressed() { failures_ = 0; }

 private:
  const int most_;
  const std::stop_token& stop_;
  int failures_ = 0, tries_ = 0;
  std::minstd_rand random_{std::random_device{}()};
};

}  // namespace navtalk
