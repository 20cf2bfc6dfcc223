// The inner loops of a direct convolution, one table per instruction set. Private to this folder.
#pragma once

#include <cstdint>

#include "gpu/kernels/activation.h"

namespace navtalk::kernels {

constexpr std::int64_t k_pixels = 6;    // that are multiplied at once
constexpr std::int64_t k_outputs = 16;  // channels that are made at once
constexpr std::int64_t k_chain = 256;   // products of one sum

// Products of k_pixels pixels and one or two groups of k_outputs outputs, of channels [first, first + depth) under each of some taps.
struct DirectProducts {
  const float* const* pixels = nullptr;  // [taps][pitch], k_pixels of each row are used
  std::int64_t pitch = 0, taps = 1;
  std::int64_t first = 0, depth = 0;
  std::int64_t groups = 1;
  const float* weights = nullptr;  // [groups][taps][depth][k_outputs]
  float* sums = nullptr;           // [k_pixels][stride]
  std::int64_t stride = 0;
  bool more = false;  // added to the sums that are there
  // Wanted soon, and fetched into the second cache meanwhile: weights, and of some pixels the channels [next_first,
  // next_first + next_depth).
  const float* soon = nullptr;
  std::int64_t soon_weights = 0;
  const float* const* next = nullptr;
  std::int64_t next_count = 0, next_first = 0, next_depth = 0;
};

// Sums on their way out: y = activation(sums + bias + add) + after of some pixels and at most k_outputs channels.
struct DirectResults {
  const float* sums = nullptr;  // [pixels][stride]
  std::int64_t stride = 0;
  const float* bias = nullptr;   // [k_outputs]
  const float* add = nullptr;    // as y; or null
  const float* after = nullptr;  // the same
  float* y = nullptr;            // [pixels][y_stride]
  std::int64_t y_stride = 0;
  std::int64_t pixels = 0, outputs = 0;
};

struct DirectSteps {
  std::int64_t groups_at_once;  // of outputs, that `multiply` takes at most
  void (*multiply)(const DirectProducts& products);
  void (*finish)(const DirectResults& results, Activation activation);
};

const DirectSteps& portable_direct_steps();
const DirectSteps& avx2_direct_steps();
const DirectSteps& avx512_direct_steps();

}  // namespace navtalk::kernels
