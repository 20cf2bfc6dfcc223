#include "server/gateway/jobs/job_trace.h"

#include <algorithm>
#include <chrono>
#include <optional>
#include <string_view>

namespace navtalk::server {
namespace {

constexpr std::string_view k_claimed_on = "claimed on ";

std::chrono::system_clock::time_point time_of_day(TimePoint wall) {
  return std::chrono::time_point_cast<std::chrono::system_clock::duration>(
      std::chrono::system_clock::time_point(wall.time_since_epoch()));
}

// The events since the job was submitted, or submitted again.
class Way {
 public:
  Way(const Job& job, const JobHistory& submission) : trace_(new_trace_id()), job_(job) {
    whole_ = span("job", submission.at, submission.at);
    whole_.kind = Span::Kind::server;
    waits_since_ = submission.at;
  }

  void add(const JobHistory& event) {
    if (event.event == JobEvent::claim) return claimed(event);
    if (event.event == JobEvent::segment) return piece("segment", event);
    if (event.event == JobEvent::intend) {
      piece_since_ = event.at;
      return;
    }
    if (event.to == JobState::running) return;
    if (run_) end_run(event);
    if (is_final(event.to)) end(event);
  }
  std::vector<Span> over() { return over_ ? std::move(spans_) : std::vector<Span>{}; }

 private:
  Span span(const char* name, TimePoint begin, TimePoint end, const std::string& parent = "") {
    return {.trace = trace_,
            .id = new_span_id(),
            .parent = parent,
            .name = name,
            .begin = time_of_day(begin),
            .end = time_of_day(std::max(begin, end))};
  }
  void claimed(const JobHistory& event) {
    spans_.push_back(span("allocation", waits_since_, event.at, whole_.id));
    run_ = span("run", event.at, event.at, whole_.id);
    run_->kind = Span::Kind::client;
    run_->attributes = {{"navtalk.gateway", event.who}};
    if (event.why.starts_with(k_claimed_on))
      run_->attributes.emplace_back("navtalk.gpu", event.why.substr(k_claimed_on.size()));
    piece_since_ = event.at;
    ++runs_;
  }
  void piece(const char* name, const JobHistory& event) {
    if (!run_) return;
    spans_.push_back(span(name, piece_since_, event.at, run_->id));
    piece_since_ = event.at;
  }
  void end_run(const JobHistory& event) {
    if (event.event == JobEvent::finish) {
      piece("result", event);
    } else if (event.event != JobEvent::yield && event.event != JobEvent::cancel) {
      run_->error = event.why;
    }
    run_->attributes.emplace_back("navtalk.end", std::string(name(event.event)));
    run_->end = time_of_day(event.at);
    spans_.push_back(std::move(*run_));
    run_.reset();
    waits_since_ = event.at;
  }
  void end(const JobHistory& event) {
    whole_.end = time_of_day(event.at);
    whole_.attributes = {{"navtalk.job", job_.id.text},
                         {"navtalk.state", std::string(name(event.to))},
                         {"navtalk.runs", runs_},
                         {"navtalk.video_minutes", job_.work.count()}};
    if (!job_.spec.tenant.empty())
      whole_.attributes.emplace_back("navtalk.tenant", job_.spec.tenant.text);
    if (event.to == JobState::failed || event.to == JobState::dead) whole_.error = event.why;
    spans_.push_back(std::move(whole_));
    over_ = true;
  }

  const std::string trace_;
  const Job& job_;
  Span whole_{};
  std::optional<Span> run_{};
  TimePoint waits_since_{}, piece_since_{};
  std::int64_t runs_ = 0;
  bool over_ = false;
  std::vector<Span> spans_{};
};

}  // namespace

std::string claimed_on(const GpuId& gpu) { return std::string(k_claimed_on) + gpu.text; }

std::vector<Span> job_spans(const Job& job, const std::vector<JobHistory>& history) {
  const auto submission = std::find_if(history.rbegin(), history.rend(), [](const auto& event) {
    return event.event == JobEvent::submit || event.event == JobEvent::resubmit;
  });
  if (submission == history.rend() || !is_final(job.state)) return {};
  Way way(job, *submission);
  for (auto event = submission.base(); event != history.end(); ++event) way.add(*event);
  return way.over();
}

}  // namespace navtalk::server
