// Which blocks of host memory are used again, and when, with a device that is done when the test says so.
#include "gpu/device/staging_ring.h"

#include <catch2/catch.hpp>
#include <stdexcept>
#include <vector>

namespace {

using navtalk::DeviceEvent;
using navtalk::StagingRing;

struct Event : DeviceEvent {
  bool done() override { return is_done; }
  void wait() override {
    ++waits;
    if (fails) throw std::runtime_error("the device is lost");
    is_done = true;
  }
  bool is_done = false, fails = false;
  int waits = 0;
};

struct Rig {
  std::vector<std::size_t> made{};  // sizes
  bool full = false;
  StagingRing ring{2, [this](std::size_t bytes) {
                     if (full) throw std::runtime_error("no page can be locked");
                     made.push_back(bytes);
                     return std::shared_ptr<std::uint8_t>(new std::uint8_t[bytes],
                                                          std::default_delete<std::uint8_t[]>());
                   }};
  // Takes a block, which the device uses until the event, and gives it back.
  std::uint8_t* used(std::size_t bytes, const std::shared_ptr<Event>& event) {
    const auto block = ring.take(bytes);
    block->busy_until(event);
    return block->data();
  }
};

}  // namespace

TEST_CASE("a block is used again when the device is done with it, and not before") {
  Rig rig;
  const auto event = std::make_shared<Event>();
  std::uint8_t* const first = rig.used(100, event);
  CHECK(rig.used(100, nullptr) != first);
  event->is_done = true;
  CHECK(rig.ring.take(100)->data() == first);
  CHECK(rig.made.size() == 2);
}

TEST_CASE("where all blocks wait for the device the one given back first is waited for") {
  Rig rig;
  const auto first = std::make_shared<Event>(), second = std::make_shared<Event>();
  std::uint8_t* const block = rig.used(100, first);
  rig.used(100, second);
  CHECK(rig.ring.take(100)->data() == block);
  CHECK(first->waits == 1);
  CHECK(second->waits == 0);
  CHECK(rig.made.size() == 2);
}

TEST_CASE("blocks that are held are nobody else's, and what is made beyond the bound is not kept") {
  Rig rig;
  const auto a = rig.ring.take(10), b = rig.ring.take(10);
  {
    const auto c = rig.ring.take(10);
    CHECK(c->data() != a->data());
    CHECK(c->data() != b->data());
  }
  CHECK(rig.made.size() == 3);
  const auto d = rig.ring.take(10);
  CHECK(rig.made.size() == 4);
}

TEST_CASE("a block that is too small grows, where none that is large enough is free") {
  Rig rig;
  {
    const auto small = rig.ring.take(10), large = rig.ring.take(1000);
    CHECK(large->size() == 1000);
  }
  CHECK(rig.ring.take(500)->size() == 1000);
  {
    const auto large = rig.ring.take(500);
    CHECK(rig.ring.take(500)->size() == 500);  // the small one has grown
  }
  CHECK(rig.made == std::vector<std::size_t>{10, 1000, 500});
}

TEST_CASE("a block whose device is lost, or whose memory is not there, is made anew next time") {
  Rig rig;
  const auto lost = std::make_shared<Event>();
  lost->fails = true;
  rig.used(10, lost);
  const auto held = rig.ring.take(10);
  CHECK_THROWS_WITH(rig.ring.take(10), "the device is lost");
  rig.full = true;
  CHECK_THROWS_WITH(rig.ring.take(10), "no page can be locked");
  rig.full = false;
  std::uint8_t* const again = rig.used(10, nullptr);
  CHECK(rig.ring.take(10)->data() == again);
  CHECK(rig.made.size() == 3);
}

TEST_CASE("memory that is not kept goes when the device is done with it") {
  const auto beyond = std::make_shared<Event>(), kept = std::make_shared<Event>();
  {
    Rig rig;
    const auto a = rig.ring.take(10), b = rig.ring.take(10);
    rig.used(10, beyond);
    CHECK(beyond->waits == 1);
    a->busy_until(kept);
  }
  CHECK(kept->waits == 1);
}

TEST_CASE("a block may be held longer than its ring lives") {
  std::shared_ptr<StagingRing::Block> block;
  {
    Rig rig;
    block = rig.ring.take(10);
  }
  block->data()[9] = 1;
  CHECK(block->size() == 10);
}
