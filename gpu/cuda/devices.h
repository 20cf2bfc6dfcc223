// The CUDA devices of this machine.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace navtalk::cuda {

struct DeviceProperties {
  std::string name;  // "NVIDIA H200"
  // "0000:65:00.0": of the machine, whatever CUDA_VISIBLE_DEVICES leaves; empty: unknown.
  std::string pci_bus_id{};
  int capability = 0;  // 90 for 9.0
  int multiprocessors = 0;
  std::size_t memory_bytes = 0, l2_bytes = 0;
};

struct Devices {
  std::vector<DeviceProperties> list;  // by index
  std::string missing{};               // why the list is empty, as the end of a sentence
  bool built = true;                   // false: this build has no CUDA
};
// Never throws for want of a device, of a driver, or of CUDA in this build.
Devices devices();

struct MemoryUse {
  std::size_t total = 0, used = 0;  // bytes, by all programs
};
// Of a device of that list; zeros where CUDA does not tell.
MemoryUse memory_use(int index);

}  // namespace navtalk::cuda
