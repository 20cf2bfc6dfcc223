// The part of NVML that navtalk uses, as a library that answers what tests say. One GPU, whatever its bus id.
#include "tests/fakes/fake_nvml.h"

#include <cstring>

namespace {

using navtalk::tests::FakeNvml;

FakeNvml fake;
int gpu;  // its address is the handle

constexpr int k_invalid_argument = 2;

}  // namespace

extern "C" {

struct FakeUtilization {
  unsigned gpu, memory;
};

FakeNvml* fake_nvml() { return &fake; }

int nvmlInit_v2() {
  fake.count([](FakeNvml::Calls& calls) { ++calls.starts; });
  return fake.answers().init_result;
}

int nvmlShutdown() {
  fake.count([](FakeNvml::Calls& calls) { ++calls.shutdowns; });
  return 0;
}

int nvmlDeviceGetHandleByPciBusId_v2(const char* bus, void** device) {
  fake.count(
      [bus](FakeNvml::Calls& calls) { std::strncpy(calls.bus.data(), bus, calls.bus.size() - 1); });
  *device = &gpu;
  return fake.answers().find_result;
}

int nvmlDeviceGetUtilizationRates(void* device, FakeUtilization* use) {
  fake.count([](FakeNvml::Calls& calls) { ++calls.readings; });
  fake.wait_while_hanging();
  if (device != &gpu) return k_invalid_argument;
  const FakeNvml::Answers answers = fake.answers();
  *use = {answers.busy, 0};
  return answers.utilization_result;
}

int nvmlDeviceGetTemperature(void* device, int sensor, unsigned* celsius) {
  if (device != &gpu || sensor != 0) return k_invalid_argument;
  const FakeNvml::Answers answers = fake.answers();
  *celsius = answers.celsius;
  return answers.temperature_result;
}

const char* nvmlErrorString(int result) {
  return result == 15 ? "GPU is lost" : result == 9 ? "Driver Not Loaded" : nullptr;
}
}
