#include "gpu/verify/tolerance.h"

#include <array>
#include <cstdio>
#include <string>

namespace navtalk {
namespace {

constexpr double k_mel_max = 1e-5, k_fp32_max = 1e-4;
constexpr double k_place_max = 0.1;
constexpr int k_fp32_levels = 1;
constexpr double k_fp32_differing_percent = 0.5;
constexpr double k_differing_parts_percent = 0.1;
constexpr double k_bf16_psnr_db = 40, k_fp16_psnr_db = 50;

// What rounding every intermediate value to half precision was measured to cost: rms relative to
// the output's standard deviation, by NetOutput. Three times that is allowed.
struct HalfRms {
  double fp16, bf16;
};
constexpr std::array<HalfRms, 4> k_half_rms{
    {{1.3e-3, 1.0e-2}, {1.3e-3, 1.1e-2}, {2.0e-3, 1.6e-2}, {3.5e-3, 2.8e-2}}};
constexpr double k_half_margin = 3;

// 0.0001 as "1e-04", 0.033 as "0.033".
std::string number(double value) {
  std::array<char, 32> out{};
  std::snprintf(out.data(), out.size(), value < 0.001 ? "%.0e" : "%.3g", value);
  return out.data();
}

GroupResult compared(std::string_view tensor) {
  return {.group = std::string(tensor.substr(0, tensor.find('.'))),
          .tensor = std::string(tensor),
          .compared = true};
}

GroupResult with(std::string_view tensor, const FloatDifference& difference, double unit) {
  GroupResult result = compared(tensor);
  result.max_difference = difference.max / unit;
  result.rms_difference = difference.rms / unit;
  return result;
}

GroupResult with(std::string_view tensor, const ByteDifference& difference) {
  GroupResult result = compared(tensor);
  result.bytes = true;
  result.max_difference = difference.max;
  result.differing_percent = difference.differing_percent;
  result.psnr_db = difference.psnr_db;
  return result;
}

}  // namespace

GroupResult check_mel(std::string_view tensor, const FloatDifference& difference) {
  GroupResult result = with(tensor, difference, 1);
  result.tolerance = "max <= " + number(k_mel_max) + " absolute";
  result.passed = result.max_difference <= k_mel_max;
  return result;
}

GroupResult check_net(std::string_view tensor, const FloatDifference& difference, NetOutput output,
                      Precision precision) {
  GroupResult result = with(tensor, difference, difference.std > 0 ? difference.std : 1);
  if (precision == Precision::fp32) {
    result.tolerance = "max <= " + number(k_fp32_max) + " std";
    result.passed = result.max_difference <= k_fp32_max;
    return result;
  }
  const HalfRms& half = k_half_rms.at(static_cast<std::size_t>(output));
  const double limit = k_half_margin * (precision == Precision::bf16 ? half.bf16 : half.fp16);
  result.tolerance = "rms <= " + number(limit) + " std";
  result.passed = result.rms_difference <= limit;
  return result;
}

GroupResult check_faces(std::string_view tensor, const ByteDifference& difference,
                        Precision precision) {
  GroupResult result = with(tensor, difference);
  if (precision == Precision::fp32) {
    result.tolerance = "at most 1 level, 0.5 % of bytes";
    result.passed =
        difference.max <= k_fp32_levels && difference.differing_percent <= k_fp32_differing_percent;
    return result;
  }
  const double lowest = precision == Precision::bf16 ? k_bf16_psnr_db : k_fp16_psnr_db;
  result.tolerance = "PSNR >= " + number(lowest) + " dB";
  result.passed = difference.psnr_db >= lowest;
  return result;
}

GroupResult check_parts(std::string_view tensor, const ByteDifference& difference) {
  GroupResult result = with(tensor, difference);
  result.tolerance = "at most " + number(k_differing_parts_percent) + " % of pixels";
  result.passed = difference.differing_percent <= k_differing_parts_percent;
  return result;
}

GroupResult check_places(std::string_view tensor, const FloatDifference& difference) {
  GroupResult result = with(tensor, difference, 1);
  result.tolerance = "max <= " + number(k_place_max) + " pixels";
  result.passed = result.max_difference <= k_place_max;
  return result;
}

GroupResult check_equal(std::string_view tensor, const FloatDifference& difference) {
  GroupResult result = with(tensor, difference, 1);
  result.tolerance = "equal";
  result.passed = difference.max == 0;
  return result;
}

GroupResult check_equal(std::string_view tensor, const ByteDifference& difference) {
  GroupResult result = with(tensor, difference);
  result.tolerance = "equal";
  result.passed = difference.max == 0;
  return result;
}

}  // namespace navtalk
