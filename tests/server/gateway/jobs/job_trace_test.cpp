#include "server/gateway/jobs/job_trace.h"

#include <map>

#include <catch2/catch.hpp>

using namespace navtalk;
using namespace navtalk::server;
using namespace std::chrono_literals;

namespace {

const TimePoint k_submitted = TimePoint(std::chrono::sys_days(std::chrono::year(2026) / 11 / 23));

struct Told {
  Job job{.id = {"9f86d081"}, .work = VideoMinutes(2min)};
  std::vector<JobHistory> history{};

  void at(Duration after, JobEvent event, JobState to, const std::string& why = "") {
    job.state = to;
    history.push_back(
        {.at = k_submitted + after, .event = event, .to = to, .who = "gateway 1:2", .why = why});
  }
  std::vector<Span> spans() const { return job_spans(job, history); }
};

double seconds_in(const Span& span) {
  return std::chrono::duration<double>(span.end - span.begin).count();
}

// "name length-in-seconds", in the order of their ends.
std::vector<std::string> outline(const std::vector<Span>& spans) {
  std::vector<std::string> lines;
  for (const Span& span : spans)
    lines.push_back(span.name + " " + std::to_string(std::lround(seconds_in(span))));
  return lines;
}

std::string text_of(const Span& span, const std::string& name) {
  for (const auto& [key, value] : span.attributes)
    if (key == name && std::holds_alternative<std::string>(value))
      return std::get<std::string>(value);
  return "";
}

Told interrupted() {
  using enum JobState;
  Told told;
  told.at(0s, JobEvent::submit, queued);
  told.at(2s, JobEvent::release, released);
  told.at(5s, JobEvent::claim, running, claimed_on({"cloud-1"}));
  told.at(15s, JobEvent::segment, running, "segment 0");
  told.at(18s, JobEvent::promise, running);
  told.at(21s, JobEvent::lose, released, "its lease has expired");
  told.at(24s, JobEvent::claim, running, claimed_on({"cloud-2"}));
  told.at(34s, JobEvent::segment, running, "segment 1");
  told.at(35s, JobEvent::intend, running);
  return told;
}

}  // namespace

TEST_CASE("a job that was interrupted tells its waits, its runs and their segments") {
  Told told = interrupted();
  CHECK(told.spans().empty());  // it is not over
  told.at(37s, JobEvent::finish, JobState::done);
  const std::vector<Span> spans = told.spans();
  CHECK(outline(spans) == std::vector<std::string>{"allocation 5", "segment 10", "run 16",
                                                   "allocation 3", "segment 10", "result 2",
                                                   "run 13", "job 37"});
  std::map<std::string, std::vector<Span>> by_name;
  for (const Span& span : spans) {
    CHECK(span.trace == spans[0].trace);
    by_name[span.name].push_back(span);
  }
  const Span& whole = by_name["job"].at(0);
  const std::vector<Span>& runs = by_name["run"];
  CHECK(whole.parent.empty());
  CHECK(whole.error.empty());
  CHECK(text_of(whole, "navtalk.job") == "9f86d081");
  CHECK(by_name["allocation"].at(1).parent == whole.id);
  CHECK(runs.at(0).parent == whole.id);
  CHECK(runs.at(0).error == "its lease has expired");
  CHECK(text_of(runs.at(0), "navtalk.gpu") == "cloud-1");
  CHECK(text_of(runs.at(1), "navtalk.gpu") == "cloud-2");
  CHECK(runs.at(1).error.empty());
  CHECK(by_name["segment"].at(0).parent == runs.at(0).id);
  CHECK(by_name["segment"].at(1).parent == runs.at(1).id);
  CHECK(by_name["result"].at(0).parent == runs.at(1).id);
}

TEST_CASE("a job that is given up tells why, and one that is cancelled is no error") {
  Told dead = interrupted();
  dead.at(36s, JobEvent::exhaust, JobState::dead, "the renderer was killed");
  CHECK(dead.spans().back().error == "the renderer was killed");
  CHECK(text_of(dead.spans().back(), "navtalk.state") == "dead");

  Told cancelled;
  cancelled.at(0s, JobEvent::submit, JobState::queued);
  cancelled.at(4s, JobEvent::cancel, JobState::cancelled, "cancelled over HTTP");
  REQUIRE(outline(cancelled.spans()) == std::vector<std::string>{"job 4"});
  CHECK(cancelled.spans().back().error.empty());
}

TEST_CASE("a job that was submitted again tells its second way alone") {
  Told told = interrupted();
  told.at(36s, JobEvent::exhaust, JobState::dead, "broke");
  told.at(60s, JobEvent::resubmit, JobState::queued);
  told.at(61s, JobEvent::release, JobState::released);
  told.at(62s, JobEvent::claim, JobState::running, "claimed");
  told.at(63s, JobEvent::yield, JobState::released, "users want the GPU");
  told.at(64s, JobEvent::claim, JobState::running, "claimed");
  told.at(66s, JobEvent::finish, JobState::done);
  const std::vector<Span> spans = told.spans();
  CHECK(outline(spans) == std::vector<std::string>{"allocation 2", "run 1", "allocation 1",
                                                   "result 2", "run 2", "job 6"});
  CHECK(spans[1].error.empty());
  CHECK(text_of(spans[1], "navtalk.end") == "yield");
}
