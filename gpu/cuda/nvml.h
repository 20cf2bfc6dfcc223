// NVIDIA's management library (NVML), which the driver brings: how busy a GPU is and how hot. Loaded when it is used, so that
// nothing here needs it to build or to start. One thread at a time.
#pragma once

#include <memory>
#include <optional>
#include <string>

namespace navtalk::cuda {

inline constexpr const char* k_nvml_library = "libnvidia-ml.so.1";

// A figure is missing where the GPU does not have it (a part of a GPU by MIG has no load of its own), or where it cannot be true.
struct DeviceReading {
  std::optional<double> load{};      // 0..1: share of the last moments in which a kernel ran
  std::optional<int> temperature{};  // degrees Celsius

  bool operator==(const DeviceReading&) const = default;
};

// One GPU as NVML sees it.
class Nvml {
 public:
  // `pci_bus_id`: as DeviceProperties has it. NVML counts all GPUs of the machine, CUDA those of CUDA_VISIBLE_DEVICES in
  // another order: the bus tells which one is meant. Error{failed} when the library cannot be loaded, does not start or does
  // not know the GPU.
  static Nvml open(const std::string& pci_bus_id, const std::string& library = k_nvml_library);

  // Error{failed} when the GPU does not answer any more. May take as long as the driver likes.
  DeviceReading read();

 private:
  struct Library;
  struct Close {
    void operator()(Library* library) const;
  };
  explicit Nvml(std::unique_ptr<Library, Close> library);
  std::unique_ptr<Library, Close> library_;
};

}  // namespace navtalk::cuda
