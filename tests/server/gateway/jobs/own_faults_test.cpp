// What a gateway says of a job whose files it cannot keep.
#include <fcntl.h>
#include <unistd.h>

#include "core/log/log.h"
#include "tests/server/gateway/jobs/dispatching.h"

using namespace navtalk;
using namespace navtalk::server;
using namespace navtalk::tests;
using namespace std::chrono_literals;

namespace {

// What this process writes to standard error while it lives, in the place of a terminal.
class LoggedLines {
 public:
  LoggedLines() {
    const int file = open((folder_ / "log").c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
    REQUIRE(file >= 0);
    dup2(file, STDERR_FILENO);
    close(file);
    log::start("warn", "text", false);
  }
  ~LoggedLines() {
    dup2(before_, STDERR_FILENO);
    close(before_);
  }
  LoggedLines(const LoggedLines&) = delete;
  LoggedLines& operator=(const LoggedLines&) = delete;

  // Lines that say so.
  int count(const std::string& words) const {
    std::ifstream from(folder_ / "log");
    int lines = 0;
    for (std::string line; std::getline(from, line);)
      lines += line.find(words) != std::string::npos ? 1 : 0;
    return lines;
  }

 private:
  const TemporaryDirectory folder_;
  const int before_ = dup(STDERR_FILENO);
};

}  // namespace

TEST_CASE("a job that never fits the gateway's disk waits longer each time, and says why") {
  const LoggedLines log;
  Dispatching gateway({.rules = {.first_delay = 1h, .longest_delay = 4h}});
  const Job job = gateway.add("a");
  fs::create_directories(gateway.folder(job).parent_path());
  std::ofstream(gateway.folder(job)) << "in the way";
  gateway.release();
  std::uint64_t times = 0;
  for (const Duration pause : {1h, 2h, 4h, 4h}) {
    ++times;
    REQUIRE(gateway.eventually([&] { return gateway.ended(JobRun::End::gateway) == times; }));
    const Job waiting = gateway.now(job);
    REQUIRE(waiting.state == JobState::released);
    CHECK(waiting.not_before - waiting.changed_at == pause);
    CHECK(waiting.attempts == 0);
    CHECK_THAT(waiting.error, Catch::StartsWith("the gateway cannot keep the job's files: "));
    CHECK_THAT(waiting.error, Catch::Contains(job.id.text));
    CHECK_THAT(waiting.error, !Catch::Contains(gateway.folder(job).parent_path().native()));
    CHECK(gateway.jobs.history(job.id).back().why == waiting.error);
    gateway.run_sql("UPDATE jobs SET not_before = 0");
  }
  fs::remove(gateway.folder(job));
  REQUIRE(gateway.eventually([&] {
    gateway.run_sql("UPDATE jobs SET not_before = 0");  // it may have been tried once more before
    return gateway.now(job).state == JobState::done;
  }));
  CHECK(gateway.now(job).error.empty());
  CHECK(log.count("could not be carried on") == 1);
}

TEST_CASE("a job that was cancelled at another gateway is no error of the one that renders it") {
  const LoggedLines log;
  std::atomic<bool> goes_on = false;
  const WorkerScript waits = [&](WebSocket& gateway) -> asio::awaitable<void> {
    co_await render_for_ever(gateway);
    while (!goes_on) co_await rest(1ms);
    co_await send_result(gateway);
  };
  Dispatching gateway({.script = waits, .times = {.renew_every = 1h}});
  const Job job = gateway.add("a");
  gateway.release();
  REQUIRE(gateway.eventually([&] { return gateway.progress(job) > 0; }));
  // As the other one does, in a folder of both.
  gateway.jobs.cancel(job.id, {"tenant", "cancelled over HTTP"}, gateway.jobs.now());
  fs::remove_all(gateway.folder(job));
  goes_on = true;
  CHECK(gateway.eventually([&] { return gateway.ended(JobRun::End::lost) == 1; }));
  CHECK(gateway.now(job).state == JobState::cancelled);
  CHECK(log.count("could not be carried on") == 0);
}
