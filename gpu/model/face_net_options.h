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
  // Pictures that go through a network together, where there are so many: 1 to k_most_pictures; 0: as many as the device likes.
  int batch = 0;
};
inline constexpr int k_most_pictures = 64;

// `batch`, chosen where it is 0.
int pictures_at_once(const FaceNetOptions& options);
// What of the options changes results: "fp32 cpu", "fp16 cuda, 8 at once".
std::string numbers_of(const FaceNetOptions& options);

}  // namespace navtalk
