// The runs of a list's jobs with a renderer of the test's own: leases through long steps.
#include "cmd/job/job_runner.h"

#include <fcntl.h>

#include <catch2/catch.hpp>
#include <fstream>
#include <thread>

#include "cmd/modules/build_id.h"
#include "core/base/device_lost.h"
#include "tests/temporary_directory.h"

using namespace navtalk;
using namespace navtalk::cmd;
using namespace navtalk::tests;
using namespace std::chrono_literals;

namespace {

constexpr Duration k_lease = 5ms;
// What is renewed without a sign of progress is renewed for so long.
constexpr Duration k_patience = 20 * k_lease;

// One video, whose rendering is `step`.
class OneVideo {
 public:
  using Step = std::function<void(const VideoRenderer::Steps&)>;

  explicit OneVideo(Step step) {
    const std::filesystem::path output = folder_ / "video.mp4";
    renderer_ = {.open = [](const InferOptions&) {},
                 .speech_s = [](const InferOptions&) { return 60.0; },
                 .load = [] {},
                 .device = [] { return "cpu"; },
                 .render =
                     [step, output](const InferOptions&, const VideoRenderer::Steps& steps) {
                       step(steps);
                       std::ofstream(output) << "video";
                       steps.before_commit(output);
                       return FinishedVideo{.frames = 60, .rendered = 60, .duration_s = 60};
                     }};
    rows_.push_back({.name = "row 1",
                     .options = {},
                     .spec = {.tenant = k_local_tenant, .avatar = "ada", .output = output.native()},
                     .key = "k"});
    rows_.front().options.output = output;
  }

  void run() {
    JobRunner(store_, SegmentFolders(folder_ / "jobs.db"), renderer_, context_).run(rows_);
  }
  Job job() { return *store_.find(k_local_tenant, "k"); }
  bool is_kept_until(TimePoint time) { return job().lease_until >= time; }
  TimePoint now() { return store_.now(); }

 private:
  TemporaryDirectory folder_;
  JobStore store_{StoreBackend::open("sqlite:" + (folder_ / "jobs.db").native()),
                  {.lease = k_lease}};
  const int nowhere_ = ::open("/dev/null", O_WRONLY | O_CLOEXEC);
  Context context_{.out = Output(nowhere_),
                   .progress = [](auto&&...) {},
                   .video_progress = [](auto&&...) {},
                   .clear_progress = [] {}};
  VideoRenderer renderer_;
  std::vector<JobRow> rows_;
};

// Within a minute.
bool comes(const auto& is) {
  for (const auto until = std::chrono::steady_clock::now() + 60s;
       std::chrono::steady_clock::now() < until; std::this_thread::sleep_for(1ms)) {
    if (is()) return true;
  }
  return false;
}

}  // namespace

// The library asks for it where it loads the module, which these tests do not.
const char* navtalk::cmd::build_id() { return ""; }

TEST_CASE("a run keeps its lease through a step that is longer than the lease") {
  OneVideo* video = nullptr;
  bool kept = false;
  OneVideo one([&](const VideoRenderer::Steps&) {
    const TimePoint until = video->job().lease_until + 2 * k_lease;
    kept = comes([&] { return video->is_kept_until(until); });
  });
  video = &one;
  one.run();
  CHECK(kept);
  CHECK(one.job().state == JobState::done);
}

TEST_CASE("a run keeps its lease while it joins the segments of a video") {
  OneVideo* video = nullptr;
  bool kept = false;
  OneVideo one([&](const VideoRenderer::Steps& steps) {
    const TimePoint until = video->now() + 2 * k_patience;
    kept = comes([&] {
      steps.segments->joining();
      return video->is_kept_until(until);
    });
  });
  video = &one;
  one.run();
  CHECK(kept);
  CHECK(one.job().state == JobState::done);
}

TEST_CASE("a run whose device is lost ends at once, and the video's try does not count") {
  int tries = 0;
  OneVideo one([&](const VideoRenderer::Steps&) {
    ++tries;
    throw DeviceLost("the GPU has fallen off the bus");
  });
  CHECK_THROWS_AS(one.run(), DeviceLost);
  CHECK(tries == 1);
  CHECK(one.job().state == JobState::released);
  CHECK(one.job().attempts == 0);
}
