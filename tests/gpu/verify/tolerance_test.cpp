#include "gpu/verify/tolerance.h"

#include <catch2/catch.hpp>
#include <limits>

using navtalk::ByteDifference;
using navtalk::check_mel;
using navtalk::FloatDifference;
using navtalk::NetOutput;
using navtalk::Precision;

TEST_CASE("fp32 nets may differ by 1e-4 of the standard deviation") {
  for (const double std : {0.5, 8.0}) {
    const auto checked = [&](double max) {
      return check_net("unet.output", {.max = max * std, .rms = 0, .std = std},
                       NetOutput::unet_output, Precision::fp32);
    };
    CHECK(checked(0.9e-4).passed);
    CHECK_FALSE(checked(1.1e-4).passed);
    CHECK(checked(0.9e-4).max_difference == Approx(0.9e-4));
    CHECK(checked(0.9e-4).group == "unet");
  }
}

TEST_CASE("half precision may differ by three times the measured rms, by output") {
  struct Row {
    NetOutput output;
    Precision precision;
    double limit;
  };
  for (const Row& row : {Row{NetOutput::whisper_states, Precision::bf16, 3.0e-2},
                         Row{NetOutput::unet_output, Precision::bf16, 3.3e-2},
                         Row{NetOutput::latents, Precision::bf16, 4.8e-2},
                         Row{NetOutput::picture, Precision::bf16, 8.4e-2},
                         Row{NetOutput::whisper_states, Precision::fp16, 3.9e-3},
                         Row{NetOutput::unet_output, Precision::fp16, 3.9e-3},
                         Row{NetOutput::latents, Precision::fp16, 6.0e-3},
                         Row{NetOutput::picture, Precision::fp16, 1.05e-2}}) {
    const auto passes = [&](double rms) {
      return check_net("x.y", {.max = 9, .rms = rms, .std = 1}, row.output, row.precision).passed;
    };
    CHECK(passes(0.99 * row.limit));
    CHECK_FALSE(passes(1.01 * row.limit));
  }
}

TEST_CASE("fp32 faces may be one level apart in half a percent of the bytes") {
  const auto passes = [](int max, double percent) {
    return check_faces("x.y", {.max = max, .differing_percent = percent, .psnr_db = 80},
                       Precision::fp32)
        .passed;
  };
  CHECK(passes(0, 0));
  CHECK(passes(1, 0.5));
  CHECK_FALSE(passes(1, 0.6));
  CHECK_FALSE(passes(2, 0.1));
}

TEST_CASE("half-precision faces need 40 dB in bf16 and 50 dB in fp16") {
  const auto passes = [](double psnr_db, Precision precision) {
    return check_faces("x.y", {.max = 9, .differing_percent = 60, .psnr_db = psnr_db}, precision)
        .passed;
  };
  CHECK(passes(40, Precision::bf16));
  CHECK_FALSE(passes(39.9, Precision::bf16));
  CHECK(passes(50, Precision::fp16));
  CHECK_FALSE(passes(49.9, Precision::fp16));
}

TEST_CASE("mel features may differ by 1e-5 absolute, windows and composed frames not at all") {
  CHECK(check_mel("x.y", {.max = 1e-5, .std = 1e-9}).passed);
  CHECK_FALSE(check_mel("x.y", {.max = 1.1e-5, .std = 9}).passed);
  CHECK(check_equal("x.y", FloatDifference{}).passed);
  CHECK_FALSE(check_equal("x.y", FloatDifference{.max = 1e-12}).passed);
  CHECK(check_equal("x.y", ByteDifference{}).passed);
  CHECK_FALSE(check_equal("x.y", ByteDifference{.max = 1}).passed);
}

TEST_CASE("what is not finite passes nowhere") {
  const double infinity = std::numeric_limits<double>::infinity();
  const FloatDifference broken{.max = infinity, .rms = infinity, .std = 1};
  CHECK_FALSE(check_mel("x.y", broken).passed);
  for (const Precision precision : {Precision::fp32, Precision::bf16, Precision::fp16})
    CHECK_FALSE(check_net("x.y", broken, NetOutput::picture, precision).passed);
}
