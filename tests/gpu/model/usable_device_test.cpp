// Which device is used, with devices of the test's own making in place of gpu/cuda/devices.h and gpu/cuda/torch_library.h.
#include "gpu/model/usable_device.h"

#include <catch2/catch.hpp>

#include "core/base/error.h"
#include "gpu/cuda/devices.h"
#include "gpu/cuda/torch_library.h"

namespace navtalk::cuda {
namespace {

Devices found_devices;
std::string torch_problem;

}  // namespace

Devices devices() { return found_devices; }
MemoryUse memory_use(int) { return {}; }
std::string load_torch() { return torch_problem; }

}  // namespace navtalk::cuda

namespace navtalk {
namespace {

constexpr Device k_cpu{};

Device gpu(int index) { return {.kind = Device::Kind::cuda, .index = index}; }

void machine_has(int count, const std::string& problem = {}) {
  cuda::found_devices = {};
  cuda::found_devices.list.resize(static_cast<std::size_t>(count), {.capability = 80});
  if (count == 0) cuda::found_devices.missing = "there is no CUDA device";
  cuda::torch_problem = problem;
}

}  // namespace

TEST_CASE("auto is the first GPU, or the CPU where none can be used") {
  machine_has(2);
  CHECK(usable_device(std::nullopt) == gpu(0));
  machine_has(0);
  CHECK(usable_device(std::nullopt) == k_cpu);
  machine_has(1, "libcudnn.so.9: cannot open");
  CHECK(usable_device(std::nullopt) == k_cpu);
}

TEST_CASE("a GPU that the kernels are not compiled for is not used") {
  machine_has(1);
  cuda::found_devices.list[0] = {.name = "Tesla T4", .capability = 75};
  CHECK(usable_device(std::nullopt) == k_cpu);
  CHECK_THROWS_WITH(usable_device(gpu(0)),
                    Catch::Contains("Tesla T4 has compute capability 7.5, and 8.0 is the least"));
}

TEST_CASE("a GPU that is asked for is that one, and the CPU is the CPU whatever there is") {
  machine_has(2);
  CHECK(usable_device(gpu(1)) == gpu(1));
  CHECK(usable_device(k_cpu) == k_cpu);
}

TEST_CASE("a GPU that is asked for and cannot be used is refused with the reason") {
  const auto refusal = [](const Device& device) {
    try {
      usable_device(device);
    } catch (const Error& error) {
      CHECK(error.code() == Code::invalid);
      return error.message();
    }
    return std::string("no error");
  };
  machine_has(0);
  CHECK(refusal(gpu(0)) == "device 'cuda:0': there is no CUDA device; use --device cpu or auto");
  machine_has(2);
  CHECK_THAT(refusal(gpu(2)), Catch::Contains("cuda:2") && Catch::Contains("cuda:0 to cuda:1"));
  machine_has(1, "libcudnn.so.9: cannot open");
  CHECK_THAT(refusal(gpu(0)), Catch::Contains("libcudnn.so.9"));
}

TEST_CASE("words for devices are those of the manual, and auto leaves the choice open") {
  CHECK(parse_device("auto") == std::nullopt);
  CHECK(parse_device("cpu") == k_cpu);
  CHECK(parse_device("cuda") == gpu(0));
  CHECK(parse_device("cuda:3") == gpu(3));
  for (const char* word : {"", "gpu", "cuda:", "cuda:-1", "cuda:x"}) {
    INFO(word);
    CHECK_THROWS_WITH(parse_device(word), Catch::Contains("auto, cpu, cuda, cuda:N"));
  }
}

}  // namespace navtalk
