// A gateway's job on real workers, whose renderer is stopped while it loads.
#include <signal.h>

#include <fstream>
#include <string>

#include "tests/server/gateway/jobs/dispatching.h"
#include "tests/server/worker/running_worker.h"

using namespace navtalk;
using namespace navtalk::server;
using namespace navtalk::tests;
using namespace std::chrono_literals;

namespace {

// A renderer that stops itself before it says anything, if it is the first one; the others render the job at once. $1: the
// file that has the first one's process id.
constexpr const char* k_renderer = R"(
read -r order
if [ ! -e "$1" ]; then
  echo $$ > "$1.new" && mv "$1.new" "$1"
  kill -STOP $$
fi
output=${order#*'"output":"'}
printf video > "${output%%'"'*}"
echo '{"event":"done","frames":1,"rendered":1,"duration_s":0.04}'
read -r next
)";

bool holds_within(Duration time, const std::function<bool()>& what) {
  for (const auto until = std::chrono::steady_clock::now() + time;
       !what() && std::chrono::steady_clock::now() < until;) {
    std::this_thread::sleep_for(5ms);
  }
  return what();
}

bool is_alive(pid_t process) { return ::kill(process, 0) == 0; }

}  // namespace

TEST_CASE("a renderer that stands still while it loads is ended, and its job goes on elsewhere") {
  const TemporaryDirectory folder;
  const fs::path stopped = folder / "stopped";
  const WorkerOptions options{
      .renderers = {.command = {"/bin/sh", "-c", k_renderer, "sh", stopped.native()}}};
  EngineScript one, other;
  const Running first(one, options), second(other, options);
  Dispatching gateway({.rules = {.most_attempts = 100, .first_delay = 1ms},
                       .heartbeat = 20ms,
                       .report_timeout = 1s,
                       .workers = {first.url(), second.url()}});
  const Job job = gateway.add("ada");
  gateway.release();
  REQUIRE(holds_within(60s, [&] { return fs::exists(stopped); }));
  pid_t renderer = 0;
  std::ifstream(stopped) >> renderer;
  REQUIRE(renderer > 0);
  // By far less than the 180 s that a worker has which says nothing.
  CHECK(holds_within(60s, [&] {
    gateway.wait(5ms);
    return gateway.now(job).state == JobState::done;
  }));
  CHECK(holds_within(60s, [&] { return !is_alive(renderer); }));
  CHECK(gateway.claims(job) >= 2);
  CHECK(gateway.ended(JobRun::End::worker) >= 1);
  std::vector<std::string> why;
  for (const JobHistory& entry : gateway.jobs.history(job.id)) why.push_back(entry.why);
  CHECK_THAT(why, Catch::VectorContains(std::string("the worker has not reported in time")));
}
