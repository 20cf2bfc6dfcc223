#include "cmd/job/remote/follow_jobs.h"

#include <algorithm>
#include <chrono>
#include <thread>

#include "core/base/interrupt.h"

namespace navtalk::cmd {
namespace {

using namespace std::chrono_literals;

// A gateway is asked for each job; many are asked for less often.
constexpr auto k_least_pause = 500ms, k_for_each = 10ms, k_longest_pause = 5'000ms;

double minutes(const nlohmann::json& job) { return job.at("video_minutes"); }

std::chrono::milliseconds milliseconds(double video_minutes) {
  return std::chrono::milliseconds(static_cast<std::int64_t>(video_minutes * 60'000));
}

void wait(std::chrono::milliseconds time, const std::stop_token& stop) {
  const auto until = std::chrono::steady_clock::now() + time;
  while (std::chrono::steady_clock::now() < until) {
    throw_if_stopped(stop);
    std::this_thread::sleep_for(50ms);
  }
}

}  // namespace

bool is_over(const nlohmann::json& job) {
  const auto& state = job.at("state").get_ref<const std::string&>();
  return state == "done" || state == "failed" || state == "dead" || state == "cancelled";
}

void follow_jobs(JobClient& client, std::vector<nlohmann::json> jobs, Context& context,
                 const std::function<void(const nlohmann::json&)>& over) {
  double ended = 0;  // video-minutes
  for (bool first = true; !jobs.empty(); first = false) {
    if (!first) {
      wait(std::clamp(std::chrono::milliseconds(k_for_each * jobs.size()),
                      std::chrono::milliseconds(k_least_pause),
                      std::chrono::milliseconds(k_longest_pause)),
           context.stop);
      for (nlohmann::json& job : jobs) job = client.show_when_back(job.at("id"));
    }
    for (const nlohmann::json& job : jobs) {
      if (!is_over(job)) continue;
      ended += minutes(job);
      context.clear_progress();
      over(job);
    }
    std::erase_if(jobs, is_over);
    double done = ended, total = ended;
    for (const nlohmann::json& job : jobs) {
      total += minutes(job);
      done += minutes(job) * job.at("progress").get<double>();
    }
    if (!jobs.empty()) context.video_progress("rendering", milliseconds(done), milliseconds(total));
  }
  context.clear_progress();
}

}  // namespace navtalk::cmd
