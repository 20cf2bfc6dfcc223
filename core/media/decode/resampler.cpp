#include "core/media/decode/resampler.h"

#include <soxr.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <string>

#include "core/base/cptr.h"
#include "core/base/error.h"

namespace navtalk::media {
namespace {

constexpr std::size_t k_soxr_block = 4096;  // samples; libsoxr keeps room for what it gets at once

using SoxrPtr = CPtr<soxr, soxr_delete>;

void check_soxr(soxr_error_t error) {
  if (error != nullptr) throw Error(Code::failed, std::string("resampling sound: ") + error);
}

}  // namespace

struct Resampler::Impl {
  int from_hz, to_hz;
  SoxrPtr soxr{};
  std::int64_t taken = 0;

  // Empty `mono`: there is no more of it.
  void run(std::span<const float> mono, std::vector<float>& out) {
    std::array<float, k_soxr_block> made;
    const bool end = mono.empty();
    for (;;) {
      std::size_t used = 0, count = 0;
      check_soxr(soxr_process(soxr.get(), end ? nullptr : mono.data(), mono.size(), &used,
                              made.data(), made.size(), &count));
      out.insert(out.end(), made.begin(), made.begin() + static_cast<std::ptrdiff_t>(count));
      mono = mono.subspan(used);
      if (count == 0 && mono.empty()) return;
    }
  }
};

Resampler::Resampler(int from_hz, int to_hz) : impl_(new Impl{from_hz, to_hz}) {
  if (from_hz <= 0 || to_hz <= 0)
    throw Error(Code::invalid, "sound cannot be resampled from " + std::to_string(from_hz) +
                                   " Hz to " + std::to_string(to_hz) + " Hz");
  if (from_hz == to_hz) return;
  const soxr_io_spec_t io = soxr_io_spec(SOXR_FLOAT32_I, SOXR_FLOAT32_I);
  const soxr_quality_spec_t quality = soxr_quality_spec(SOXR_HQ, 0);
  soxr_error_t error = nullptr;
  impl_->soxr.reset(soxr_create(from_hz, to_hz, 1, &error, &io, &quality, nullptr));
  check_soxr(error);
}

Resampler::~Resampler() = default;

std::size_t Resampler::length_of(std::int64_t count) const {
  // The reference's order: the ratio first, in double.
  const double ratio = static_cast<double>(impl_->to_hz) / impl_->from_hz;
  return static_cast<std::size_t>(std::ceil(static_cast<double>(count) * ratio));
}

void Resampler::add(std::span<const float> mono, std::vector<float>& out) {
  impl_->taken += static_cast<std::int64_t>(mono.size());
  if (!impl_->soxr) {
    out.insert(out.end(), mono.begin(), mono.end());
    return;
  }
  while (!mono.empty()) {
    const std::size_t size = std::min(mono.size(), k_soxr_block);
    impl_->run(mono.first(size), out);
    mono = mono.subspan(size);
  }
}

void Resampler::finish(std::vector<float>& out, std::size_t taken_out) {
  if (impl_->soxr && impl_->taken > 0) impl_->run({}, out);
  out.resize(std::max(length_of(impl_->taken), taken_out) - taken_out);
}

}  // namespace navtalk::media
