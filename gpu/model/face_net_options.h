// Where the networks that find faces compute, and in which number format.
#pragma once

#include <string>

#include "gpu/device/device.h"

namespace navtalk {

struct FaceNetOptions {
  // One that is there: usable_device().
  Device device{};
  // fp32 gives the boxes and masks of the originals; the others are faster and differ a little.
  Precision precision = Precision::fp32;
  int threads = 0;  // 0: every core
};
// What of the options changes results: "fp32 cpu", "fp16 cuda".
std::string numbers_of(const FaceNetOptions& options);

}  // namespace navtalk
