// Sessions and jobs in the memory of a device of the test's own.
#include "server/worker/device/device_room.h"

#include <boost/asio/io_context.hpp>
#include <catch2/catch.hpp>
#include <future>

#include "gpu/engine/inference_engine.h"
#include "server/http/blocking_threads.h"
#include "server/worker/job/renderers.h"

namespace navtalk::server {
namespace {

constexpr AvatarSize avatar_of(std::uint64_t frames, std::uint64_t pictures = 0) {
  return {.device_frames = frames, .device_pictures = pictures};
}

// A device of 1000 bytes, of which others have some.
struct FullDevice {
  explicit FullDevice(std::uint64_t others) { use(others); }
  void use(std::uint64_t others) { memory->note({.total = 1000, .used = others}); }
  std::uint64_t reserved(MemoryUser user) const { return memory->ledger().of(user); }
  DeviceBudget budget() {
    return {.memory = memory,
            .frames_limit = [this] { return frames_limit; },
            .keep_frames = [this](std::uint64_t bytes) { kept = bytes; },
            .of_process = [this] { return of_process; }};
  }

  std::shared_ptr<MemoryBudget> memory = std::make_shared<MemoryBudget>();
  std::uint64_t frames_limit = 400, kept = 0, of_process = 300;
  DeviceRoom room{budget()};
};

}  // namespace

TEST_CASE(
    "a session reserves its avatar's frames and its own pictures, and gives back the latter") {
  FullDevice device(0);
  auto session = device.room.admit("ada", avatar_of(100, 20));
  REQUIRE(session);
  CHECK(device.reserved(MemoryUser::avatars) == 100);
  CHECK(device.reserved(MemoryUser::sessions) == 20);
  CHECK(device.kept == 100);
  session.reset();
  CHECK(device.reserved(MemoryUser::sessions) == 0);
  CHECK(device.reserved(MemoryUser::avatars) == 100);  // for its next session
  device.room.drop_frames();
  CHECK(device.memory->ledger().all_reserved() == 0);
  CHECK(device.kept == 0);
}

TEST_CASE("sessions of one avatar share its frames") {
  FullDevice device(0);
  const auto first = device.room.admit("ada", avatar_of(100, 20));
  const auto second = device.room.admit("ada", avatar_of(100, 20));
  CHECK(device.reserved(MemoryUser::avatars) == 100);
  CHECK(device.reserved(MemoryUser::sessions) == 40);
  device.room.drop_frames();
  CHECK(device.reserved(MemoryUser::avatars) == 100);
}

TEST_CASE("a session whose pictures are shown larger than its avatar reserves as much more") {
  FullDevice device(0);
  const AvatarSize ada{.width = 100, .height = 80, .device_pictures = 20, .device_shown = 30};
  for (const auto& [shown, bytes] : {std::pair(0, 50U), {100, 50U}, {200, 140U}, {50, 27U}}) {
    INFO("shown " << shown << " pixels wide");
    const auto session = device.room.admit("ada", ada, shown);
    REQUIRE(session);
    CHECK(device.reserved(MemoryUser::sessions) == bytes);
  }
  CHECK_FALSE(device.room.admit("ada", ada, 600));  // 20 + 36 * 30 bytes
}

TEST_CASE("a session that would fill the device above 95 % is refused, and reserves nothing") {
  FullDevice device(831);
  CHECK_FALSE(device.room.admit("ada", avatar_of(100, 20)));
  CHECK(device.reserved(MemoryUser::sessions) == 0);
  CHECK_FALSE(device.room.admit("bob", avatar_of(120, 0)));
  device.use(830);
  CHECK(device.room.admit("ada", avatar_of(100, 20)));
}

TEST_CASE(
    "frames that no session uses make room, those of the avatar asked for longest ago first") {
  FullDevice device(600);
  device.room.admit("ada", avatar_of(100));
  device.room.admit("bob", avatar_of(100));
  device.room.admit("ada", avatar_of(100));
  const auto eve = device.room.admit("eve", avatar_of(200));
  REQUIRE(eve);
  CHECK(device.kept == 300);  // bob's are gone
  const auto dan = device.room.admit("dan", avatar_of(150));
  REQUIRE(dan);
  CHECK(device.kept == 350);
  CHECK_FALSE(device.room.admit("fay", avatar_of(1)));
}

TEST_CASE("the frames of a session that begins make no room for its pictures") {
  FullDevice device(800);
  CHECK_FALSE(device.room.admit("ada", avatar_of(100, 60)));
  CHECK(device.reserved(MemoryUser::sessions) == 0);
}

TEST_CASE("all avatars' frames have a limit, above which frames are loaded as they are shown") {
  FullDevice device(0);
  const auto ada = device.room.admit("ada", avatar_of(300)),
             bob = device.room.admit("bob", avatar_of(300));
  const auto eve = device.room.admit("eve", avatar_of(300));
  CHECK((ada && bob && eve));
  CHECK(device.reserved(MemoryUser::avatars) == 400);
}

TEST_CASE("a worker on the CPU reserves nothing") {
  DeviceRoom room(std::nullopt);
  CHECK(room.admit("ada", avatar_of(1ULL << 60)));
  CHECK(room.admit_job());
  CHECK(room.of_job() == 0);
  CHECK_FALSE(room.ledger());
  CHECK_FALSE(room.full());
}

TEST_CASE("a device is full when more is in use than may be, and no frames can be given up") {
  FullDevice device(900);
  device.room.admit("ada", avatar_of(50));
  CHECK_FALSE(device.room.full());
  device.use(960);
  CHECK_FALSE(device.room.full());
  device.room.drop_frames();
  CHECK(device.room.full());
}

TEST_CASE(
    "a job is taken only where its process fits on the device, and one that waits keeps its part") {
  FullDevice device(400);
  boost::asio::io_context io;
  InferenceEngine engine(nullptr);
  BlockingThreads reapers{1};
  Renderers renderers(io.get_executor(), reapers, {.command = {"/bin/cat"}}, device.room, engine,
                      {});
  auto first = renderers.reserve();
  REQUIRE(first);
  CHECK(device.reserved(MemoryUser::jobs) == 300);
  CHECK_FALSE(renderers.reserve());
  CHECK(renderers.needs() == "0 MiB and 0 MiB of the device");
  first->start();
  first->give_back(true);
  first.reset();
  CHECK(device.reserved(MemoryUser::jobs) == 300);
  auto next = renderers.reserve();
  REQUIRE(next);
  CHECK(device.reserved(MemoryUser::jobs) == 300);
  next.reset();  // it never began: the process waits on
  CHECK(device.reserved(MemoryUser::jobs) == 300);
  next = renderers.reserve();
  next->start();
  next->drop();
  std::promise<void> reaped;
  reapers.post([&] { reaped.set_value(); });  // behind the process, on one thread
  reaped.get_future().wait();
  CHECK(device.reserved(MemoryUser::jobs) == 0);
  renderers.end_all();
}

TEST_CASE("frames that no session uses make room for a job") {
  FullDevice device(400);
  device.room.admit("ada", avatar_of(300));
  CHECK(device.room.admit_job());
  CHECK(device.kept == 0);
}

}  // namespace navtalk::server
