// A process that asks for faces and the worker that draws them, on a socket between two threads.
#include "server/worker/job/face_channel.h"

#include <sys/socket.h>

#include <array>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <catch2/catch.hpp>
#include <condition_variable>
#include <future>
#include <mutex>
#include <thread>

#include "core/base/error.h"
#include "server/worker/job/face_client.h"

namespace navtalk::server {
namespace {

constexpr std::uint64_t k_job = 1ULL << 63;

// A face is as bright as the first number of its latent says. While it is held it draws nothing.
class Painter : public EngineBackend {
 public:
  Made make(std::span<const PictureRequest> batch, const std::function<void()>&) override {
    {
      std::unique_lock lock(mutex_);
      ++begun_;
      changed_.notify_all();
      changed_.wait(lock, [this] { return !held_; });
    }
    if (broken) throw Error(Code::failed, "the device is lost");
    for (const PictureRequest& request : batch) {
      OfflineFace& face = *request.offline;
      face.face = {{256, 256, 3},
                   std::vector<std::uint8_t>(k_face_bytes,
                                             static_cast<std::uint8_t>(face.latent.values.front() +
                                                                       face.window.values.back()))};
    }
    return {.pictures = std::vector<FinishPicture>(batch.size())};
  }
  void hold(bool now) {
    const std::lock_guard lock(mutex_);
    held_ = now;
    changed_.notify_all();
  }
  void wait_begun() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return begun_ > 0; });
  }

  std::atomic<bool> broken = false;

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  bool held_ = false;
  int begun_ = 0;
};

struct Channel {
  std::shared_ptr<Painter> painter = std::make_shared<Painter>();
  boost::asio::io_context io;  // the engine's threads use it until they end
  boost::asio::executor_work_guard<boost::asio::io_context::executor_type> work =
      boost::asio::make_work_guard(io);
  InferenceEngine engine{painter, {.batch = 4}, 2};
  UniqueFd theirs;
  std::unique_ptr<FaceChannel> channel;
  std::jthread loop;

  Channel() {
    std::array<int, 2> pair{};
    REQUIRE(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair.data()) == 0);
    theirs.reset(pair[1]);
    channel =
        std::make_unique<FaceChannel>(io.get_executor(), UniqueFd(pair[0]), engine, model(), k_job);
    loop = std::jthread([this] { io.run(); });
  }
  ~Channel() {
    painter->hold(false);
    on_loop([this] { channel.reset(); });
    work.reset();
  }
  void on_loop(auto call) {
    std::packaged_task<void()> task(call);
    auto over = task.get_future();
    boost::asio::post(io, [&task] { task(); });
    over.get();
  }

  static FaceModel model(const std::string& name = "unet 1, vae 1") {
    return {.name = name, .rows = 2, .width = 3};
  }
  static NdArray<float> latents(int count) {
    NdArray<float> all({count, 8, 32, 32});
    for (int i = 0; i < count; ++i) *all.row(i) = static_cast<float>(i);
    return all;
  }
  static NdArray<float> windows(int count) {
    NdArray<float> all({count, 2, 3});
    for (int i = 0; i < count; ++i) all.row(i)[5] = 100;
    return all;
  }
};

}  // namespace

TEST_CASE("each face comes back to its latent and window, however many are asked for at once") {
  Channel worker;
  FaceClient process(std::move(worker.theirs));
  REQUIRE(process.agree(Channel::model()));
  for (const int count : {1, 3 * static_cast<int>(k_most_questions)}) {
    const NdArray<std::uint8_t> faces =
        process.faces(Channel::latents(count), Channel::windows(count));
    REQUIRE(faces.shape == Shape{count, 256, 256, 3});
    for (int i = 0; i < count; ++i) {
      CHECK(faces.row(i)[0] == 100 + i);
      CHECK(faces.row(i)[k_face_bytes - 1] == 100 + i);
    }
  }
  CHECK_FALSE(worker.channel->refused());
}

TEST_CASE("a process with another model is told to draw itself") {
  Channel worker;
  FaceClient process(std::move(worker.theirs));
  CHECK_FALSE(process.agree(Channel::model("unet 2, vae 1")));
  worker.on_loop([&] { CHECK(worker.channel->refused()); });
}

TEST_CASE("what a process asked for that has ended is dropped") {
  Channel worker;
  worker.painter->hold(true);
  auto process = std::make_unique<FaceClient>(std::move(worker.theirs));
  REQUIRE(process->agree(Channel::model()));
  std::thread asks(
      [&] { CHECK_THROWS_AS(process->faces(Channel::latents(20), Channel::windows(20)), Error); });
  worker.painter->wait_begun();
  worker.on_loop([&] { worker.channel.reset(); });
  asks.join();
  worker.painter->hold(false);
  worker.engine.wait_idle();
  CHECK(worker.engine.counters().offline == 0);
  CHECK(worker.engine.counters().batches <= 2);  // one in each lane
}

TEST_CASE("a process that closes its end is noticed, and its questions are dropped") {
  Channel worker;
  worker.painter->hold(true);
  const std::string name = [] {
    std::string padded = Channel::model().name;
    padded.resize(k_model_name);
    return padded;
  }();
  REQUIRE(::send(worker.theirs.value(), name.data(), name.size(), 0) ==
          static_cast<ssize_t>(name.size()));
  const std::vector<char> question(sizeof(FaceQuestion) + (k_latent_numbers + 6) * sizeof(float));
  for (int i = 0; i < 5; ++i)
    REQUIRE(::send(worker.theirs.value(), question.data(), question.size(), 0) ==
            static_cast<ssize_t>(question.size()));
  worker.painter->wait_begun();
  worker.theirs.reset();
  worker.painter->hold(false);
  worker.engine.wait_idle();
  worker.on_loop([] {});
  CHECK(worker.engine.counters().failed == 0);
}

TEST_CASE("a device that fails is told to the process") {
  Channel worker;
  worker.painter->broken = true;
  FaceClient process(std::move(worker.theirs));
  REQUIRE(process.agree(Channel::model()));
  CHECK_THROWS_WITH(process.faces(Channel::latents(2), Channel::windows(2)),
                    Catch::Contains("the device is lost"));
}

TEST_CASE("a process that waits for sessions says so") {
  Channel worker;
  worker.painter->hold(true);
  std::atomic<int> waited = 0;
  FaceClient process(std::move(worker.theirs), [&] {
    if (++waited == 2) worker.painter->hold(false);
  });
  REQUIRE(process.agree(Channel::model()));
  const NdArray<std::uint8_t> faces = process.faces(Channel::latents(1), Channel::windows(1));
  CHECK(faces.row(0)[0] == 100);
  CHECK(waited >= 2);
}

}  // namespace navtalk::server
