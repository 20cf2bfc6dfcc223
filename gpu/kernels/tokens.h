// LayerNorm, GELU and GEGLU over token rows, on all threads.
#pragma once

#include <cstdint>

#include "gpu/kernels/isa.h"

namespace navtalk::kernels {

// x and y [rows, channels]; y may be x.
void layer_norm(const void* x, void* y, Format format, std::int64_t rows, std::int64_t channels,
                const float* gamma, const float* beta, float eps, Isa isa = best_isa());
// x [rows, 2 * channels] to y [rows, channels]: first half times gelu(second half), erf form.
void geglu(const void* x, void* y, Format format, std::int64_t rows, std::int64_t channels,
           Isa isa = best_isa());
// Erf form; y may be x.
void gelu(const void* x, void* y, Format format, std::int64_t count, Isa isa = best_isa());

}  // namespace navtalk::kernels
