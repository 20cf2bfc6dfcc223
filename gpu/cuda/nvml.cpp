#include "gpu/cuda/nvml.h"

#include <dlfcn.h>

#include "core/base/error.h"

namespace navtalk::cuda {
namespace {

// What is used of NVML's interface, which is stable since its version 2.
using Result = int;
using DeviceHandle = void*;
constexpr Result k_success = 0, k_not_supported = 3, k_no_permission = 4;
constexpr int k_temperature_of_chip = 0;
struct Utilization {
  unsigned gpu, memory;  // per cent of the last sample
};

constexpr unsigned k_hottest =
    150;  // degrees Celsius that a chip does not survive: not a measurement

}  // namespace

struct Nvml::Library {
  void* file = nullptr;
  bool started = false;
  DeviceHandle device = nullptr;
  Result (*init)() = nullptr;
  Result (*shutdown)() = nullptr;
  Result (*find_by_bus)(const char*, DeviceHandle*) = nullptr;
  Result (*utilization)(DeviceHandle, Utilization*) = nullptr;
  Result (*temperature)(DeviceHandle, int sensor, unsigned*) = nullptr;
  const char* (*text)(Result) = nullptr;

  template <class Function>
  void find(Function& function, const char* name) const {
    function = reinterpret_cast<Function>(::dlsym(file, name));
    if (function == nullptr) throw Error(Code::failed, std::string("NVML lacks ") + name);
  }

  void check(Result result, const char* call) const {
    if (result == k_success) return;
    const char* const why = text(result);
    throw Error(Code::failed, std::string(call) + ": " + (why != nullptr ? why : "unknown error") +
                                  " (" + std::to_string(result) + ")");
  }

  // False: the GPU has no such figure.
  bool has(Result result, const char* call) const {
    if (result == k_not_supported || result == k_no_permission) return false;
    check(result, call);
    return true;
  }
};

void Nvml::Close::operator()(Library* library) const {
  if (library->started) library->shutdown();
  if (library->file != nullptr) ::dlclose(library->file);
  delete library;
}

Nvml::Nvml(std::unique_ptr<Library, Close> library) : library_(std::move(library)) {}

Nvml Nvml::open(const std::string& pci_bus_id, const std::string& library) {
  std::unique_ptr<Library, Close> nvml(new Library);
  nvml->file = ::dlopen(library.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (nvml->file == nullptr) {
    const char* const why = ::dlerror();
    throw Error(Code::failed,
                std::string("NVML cannot be loaded: ") + (why != nullptr ? why : library));
  }
  nvml->find(nvml->init, "nvmlInit_v2");
  nvml->find(nvml->shutdown, "nvmlShutdown");
  nvml->find(nvml->find_by_bus, "nvmlDeviceGetHandleByPciBusId_v2");
  nvml->find(nvml->utilization, "nvmlDeviceGetUtilizationRates");
  nvml->find(nvml->temperature, "nvmlDeviceGetTemperature");
  nvml->find(nvml->text, "nvmlErrorString");
  nvml->check(nvml->init(), "nvmlInit_v2");
  nvml->started = true;
  nvml->check(nvml->find_by_bus(pci_bus_id.c_str(), &nvml->device),
              "nvmlDeviceGetHandleByPciBusId_v2");
  return Nvml(std::move(nvml));
}

DeviceReading Nvml::read() {
  DeviceReading reading;
  Utilization busy{};
  if (library_->has(library_->utilization(library_->device, &busy),
                    "nvmlDeviceGetUtilizationRates") &&
      busy.gpu <= 100)
    reading.load = busy.gpu / 100.0;
  unsigned celsius = 0;
  if (library_->has(library_->temperature(library_->device, k_temperature_of_chip, &celsius),
                    "nvmlDeviceGetTemperature") &&
      celsius <= k_hottest)
    reading.temperature = static_cast<int>(celsius);
  return reading;
}

}  // namespace navtalk::cuda
