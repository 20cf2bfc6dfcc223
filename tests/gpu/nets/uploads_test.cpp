// What a model brings to its device, counted as allocations of libtorch on the CPU in the place of one. Includes ATen.
#include <ATen/ATen.h>
#include <c10/core/Allocator.h>
#include <c10/util/ThreadLocalDebugInfo.h>

#include <catch2/catch.hpp>
#include <cstdint>
#include <memory>

#include "gpu/model/model.h"
#include "tests/gpu/nets/random_model.h"
#include "tests/temporary_directory.h"

namespace navtalk {
namespace {

// Of one size, by the thread that made it.
class Allocations : public c10::MemoryReportingInfoBase {
 public:
  explicit Allocations(std::int64_t bytes) : bytes_(bytes) {}
  void reportMemoryUsage(void*, std::int64_t size, std::size_t, std::size_t, c10::Device) override {
    if (size == bytes_) ++count;
  }
  bool memoryProfilingEnabled() const override { return true; }

  int count = 0;

 private:
  std::int64_t bytes_;
};

int allocations(std::int64_t bytes, const std::function<void()>& work) {
  const auto seen = std::make_shared<Allocations>(bytes);
  const c10::DebugInfoGuard guard(c10::DebugInfoKind::PROFILER_STATE, seen);
  work();
  return seen->count;
}

}  // namespace

TEST_CASE("whatever a net takes in several passes comes to its device once") {
  const tests::TemporaryDirectory directory;
  tests::write_random_model(directory.path());
  Model model = Model::load(
      {.models = directory.path(), .precision = Precision::fp32, .threads = 1, .as_on_gpu = true});
  // Two segments: three times a segment is what its first convolution unfolds.
  const NdArray<float> mel({2, 80, 40}), latent({3, 4, 32, 32});
  const auto bytes = [](const NdArray<float>& array) {
    return static_cast<std::int64_t>(array.values.size() * sizeof(float));
  };
  // The first call also fills the ring of host memory.
  const auto hear = [&] { model.whisper_states(mel); };
  const auto decode = [&] { model.decode_raw(latent); };
  hear();
  decode();
  CHECK(allocations(bytes(mel), hear) == 1);
  CHECK(allocations(bytes(latent), decode) == 1);
}

}  // namespace navtalk
