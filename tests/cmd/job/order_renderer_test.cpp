// The orders of a worker, with a renderer of the test's own in the place of the module's.
#include "cmd/job/order_renderer.h"

#include <sys/wait.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <chrono>
#include <ctime>
#include <fstream>
#include <stdexcept>

#include "cmd/failure.h"
#include "core/base/device_lost.h"
#include "tests/cmd/bench/printed.h"
#include "tests/temporary_directory.h"

using namespace navtalk;
using namespace navtalk::cmd;
using namespace std::chrono_literals;

namespace {

// Whose rendering throws what the test says.
class Orders {
 public:
  Orders() {
    std::filesystem::create_directories(folder_ / "ada");
    std::ofstream(folder_ / "ada" / "avatar.json") << "{}";
  }

  // What was printed, and what render() threw.
  std::string render(
      const std::function<void()>& work, std::exception_ptr& thrown,
      const std::function<void()>& load = [] {}) {
    return render_by([work](const VideoRenderer::Steps&) { work(); }, thrown, load);
  }
  std::string render_by(
      const std::function<void(const VideoRenderer::Steps&)>& work, std::exception_ptr& thrown,
      const std::function<void()>& load = [] {}) {
    return tests::printed(true, [&](Context& context) {
      context.config.avatars.path = folder_.path();
      const InferOptions how{.device = "cuda"};
      OrderRenderer renderer(
          how, [&](const InferOptions&) { return doing(work, load); }, context, 1ms);
      try {
        renderer.render({.avatar = "ada", .text = "Hello", .output = folder_ / "video.mp4"});
      } catch (...) {
        thrown = std::current_exception();
      }
      return 0;
    });
  }

 private:
  static VideoRenderer doing(const std::function<void(const VideoRenderer::Steps&)>& work,
                             const std::function<void()>& load) {
    return {.open = [](const InferOptions&) {},
            .speech_s = [](const InferOptions&) { return 1.0; },
            .load = load,
            .device = [] { return "cuda"; },
            .render =
                [work](const InferOptions&, const VideoRenderer::Steps& steps) {
                  work(steps);
                  return FinishedVideo{.frames = 25, .rendered = 25, .duration_s = 1};
                }};
  }

  tests::TemporaryDirectory folder_;
};

// For a second of processor time.
void compute() {
  for (const std::clock_t until = std::clock() + CLOCKS_PER_SEC; std::clock() < until;) {
  }
}

// How often the renderer told of that progress.
std::size_t count_of(const std::string& told, const std::string& progress) {
  std::size_t count = 0;
  for (std::size_t at = 0; (at = told.find(progress, at)) != std::string::npos; ++at) ++count;
  return count;
}

}  // namespace

TEST_CASE("a renderer tells that its device is lost, and renders no other order") {
  std::exception_ptr thrown;
  const std::string told = Orders().render(
      [] { throw DeviceLost("the video: the GPU has fallen off the bus"); }, thrown);
  CHECK_THAT(told, Catch::Contains(R"({"event":"failed","code":"failed")"));
  CHECK_THAT(told, Catch::Contains("fallen off the bus"));
  REQUIRE(thrown != nullptr);
  CHECK_THROWS_AS(std::rethrow_exception(thrown), DeviceLost);
}

TEST_CASE("a renderer goes on after an order that failed, and after one that is done") {
  std::exception_ptr thrown;
  CHECK_THAT(Orders().render([] { throw Error(Code::failed, "the disk is full"); }, thrown),
             Catch::Contains("the disk is full"));
  CHECK_THAT(
      Orders().render([] { throw std::runtime_error("a library is at its end"); }, thrown),
      Catch::Contains(R"({"event":"failed","code":"failed","message":"a library is at its)"));
  CHECK_THAT(Orders().render([] {}, thrown), Catch::Contains(R"({"event":"done","frames":25)"));
  CHECK(thrown == nullptr);
}

TEST_CASE("a renderer tells of progress while it loads its model, before there is a picture") {
  std::exception_ptr thrown;
  CHECK_THAT(Orders().render([] {}, thrown, compute),
             Catch::Contains(R"({"event":"progress","done":0,"of":0})"));
  CHECK(thrown == nullptr);
}

TEST_CASE("a renderer tells of progress while it makes a video whole, behind the last picture") {
  std::exception_ptr thrown;
  const std::string told = Orders().render_by(
      [](const VideoRenderer::Steps& steps) {
        steps.progress(25, 25);
        // Progress is told of at most once a second.
        for (int i = 0; i < 3; ++i) compute();
      },
      thrown);
  CHECK(count_of(told, R"({"event":"progress","done":25,"of":25})") >= 2);
  CHECK(thrown == nullptr);
}

TEST_CASE("a renderer that computes without end between two pictures tells nothing of it") {
  std::exception_ptr thrown;
  const std::string told = Orders().render_by(
      [](const VideoRenderer::Steps& steps) {
        steps.progress(1, 25);
        for (int i = 0; i < 3; ++i) compute();
      },
      thrown);
  CHECK(count_of(told, R"({"event":"progress","done":1,"of":25})") <= 1);
}

TEST_CASE("a renderer tells of progress while a segment goes to the disk") {
  std::exception_ptr thrown;
  const std::string told = Orders().render_by(
      [](const VideoRenderer::Steps& steps) {
        steps.progress(1, 25);
        for (const auto until = std::chrono::steady_clock::now() + 2200ms;
             std::chrono::steady_clock::now() < until;)
          steps.segments->storing();
      },
      thrown);
  CHECK(count_of(told, R"({"event":"progress","done":1,"of":25})") >= 2);
}

TEST_CASE(
    "a process whose device is lost ends with its message and exit status, and destroys nothing") {
  struct OnDevice {
    ~OnDevice() { std::abort(); }  // as libtorch's memory would
  };
  int to_test[2] = {};
  REQUIRE(::pipe(to_test) == 0);
  const pid_t child = ::fork();
  if (child == 0) {
    ::dup2(to_test[1], STDERR_FILENO);
    Output out(STDOUT_FILENO);
    const OnDevice held;
    try {
      throw DeviceLost("the GPU has fallen off the bus");
    } catch (const DeviceLost&) {
      end_without_device({}, out);
    }
  }
  ::close(to_test[1]);
  std::string told;
  for (char c = 0; ::read(to_test[0], &c, 1) == 1;) told += c;
  ::close(to_test[0]);
  int status = 0;
  REQUIRE(::waitpid(child, &status, 0) == child);
  CHECK(WIFEXITED(status));
  CHECK(WEXITSTATUS(status) == exit_status(Code::failed));
  CHECK_THAT(told, Catch::Contains("error: the GPU has fallen off the bus"));
}
