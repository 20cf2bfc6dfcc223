// Nets on a device of the test's own, which takes what the test says.
#include "server/worker/device/nets_memory.h"

#include <algorithm>
#include <catch2/catch.hpp>

#include "core/base/out_of_memory.h"

namespace navtalk::server {
namespace {

constexpr std::uint64_t k_gib = 1ULL << 30, k_context = 512ULL << 20;

// libtorch keeps what a batch has used, until it is told to give it back.
struct FakeDevice {
  std::uint64_t others = 0, held = 0, kept = 0, most = 0;

  void load(std::uint64_t bytes) { held = bytes; }
  void draw(std::uint64_t peak) {
    kept = std::max(kept, peak);
    most = std::max(most, held + kept);
  }
  DeviceMeter meter() {
    return {.now =
                [this] {
                  return DeviceMemory{
                      .total = 100 * k_gib, .used = others + held + kept, .own = held + kept};
                },
            .most = [this] { return most; },
            .restart =
                [this] {
                  kept = 0;
                  most = held;
                }};
  }
};

struct LoadedNets {
  explicit LoadedNets(std::uint64_t others = 0) {
    device.others = others;
    memory.begin();
    device.load(10 * k_gib);
    memory.loaded();
  }
  void draw(std::size_t faces) {
    memory.draw(faces, [&] { device.draw(faces * k_gib); });
  }
  std::uint64_t reserved(MemoryUser user) const { return budget->ledger().of(user); }

  FakeDevice device{};
  std::shared_ptr<MemoryBudget> budget = std::make_shared<MemoryBudget>();
  NetsMemory memory{device.meter(), budget};
};

}  // namespace

TEST_CASE("what nets take and the peak of their largest batch are measured and reserved") {
  LoadedNets nets;
  CHECK(nets.reserved(MemoryUser::nets) == 10 * k_gib);
  for (const std::size_t faces : {1, 2, 4, 8}) {
    nets.draw(faces);
    CHECK(nets.reserved(MemoryUser::batches) == faces * k_gib);
  }
  nets.draw(2);  // a smaller one takes no more
  CHECK(nets.reserved(MemoryUser::batches) == 8 * k_gib);
  CHECK(nets.reserved(MemoryUser::nets) == 10 * k_gib);
  nets.memory.unloaded();
  CHECK(nets.budget->ledger().all_reserved() == 0);
}

TEST_CASE("avatars' frames may have a quarter of what nets and batches leave below 95 %") {
  LoadedNets nets(5 * k_gib);
  nets.draw(8);
  CHECK(nets.memory.frames_limit() == 18 * k_gib);  // (95 - 5 - 10 - 8) / 4
}

TEST_CASE("another process takes what the nets took here, and CUDA's own part") {
  LoadedNets nets(5 * k_gib);
  CHECK(nets.memory.of_process() == 0);
  nets.draw(8);
  CHECK(nets.memory.of_process() == 18 * k_gib + k_context);
}

TEST_CASE(
    "a batch that does not fit below 95 % is out of memory, and what it took is not reserved") {
  LoadedNets nets(78 * k_gib);
  nets.draw(4);
  CHECK_THROWS_AS(nets.draw(8), OutOfMemory);
  CHECK(nets.reserved(MemoryUser::batches) == 4 * k_gib);
  CHECK_THROWS_WITH(nets.draw(8), Catch::Contains("a batch of 8 takes 8192 MiB"));
}

TEST_CASE("nets that do not fit below 95 % are not loaded, with what is in use") {
  CHECK_NOTHROW(LoadedNets(85 * k_gib));
  CHECK_THROWS_WITH(LoadedNets(85 * k_gib + 1),
                    Catch::Contains("10240 MiB") && Catch::Contains("more than 95 %"));
}

TEST_CASE("nets that are loaded again are measured again") {
  LoadedNets nets;
  nets.draw(8);
  nets.memory.unloaded();
  nets.device.held = nets.device.kept = 0;
  nets.memory.begin();
  nets.device.load(4 * k_gib);
  nets.memory.loaded();
  nets.draw(1);
  CHECK(nets.reserved(MemoryUser::nets) == 4 * k_gib);
  CHECK(nets.reserved(MemoryUser::batches) == k_gib);
  CHECK(nets.memory.of_process() == 5 * k_gib + k_context);
}

}  // namespace navtalk::server
