// The CUDA devices of this machine.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace navtalk::cuda {

struct DeviceProperties {
  std::string name;    // "NVIDIA H200"
  int capability = 0;  // 90 for 9.0
  int multiprocessors = 0;
  std::size_t memory_bytes = 0, l2_bytes = 0;
};

struct Devices {
  std::vector<DeviceProperties> list;  // by index
  std::string missing;                 // why the list is empty, as the end of a sentence
};
// Never throws for want of a device, of a driver, or of CUDA in this build.
Devices devices();

}  // namespace navtalk::cuda
