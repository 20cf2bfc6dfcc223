#include "cmd/job/job_runner.h"

#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

#include "cmd/pool/parts.h"
#include "core/base/device_lost.h"
#include "core/base/interrupt.h"
#include "core/log/log.h"
#include "core/process/identity.h"
#include "scheduler/jobs/kept_lease.h"
#include "scheduler/jobs/unattended.h"

namespace navtalk::cmd {
namespace {

namespace fs = std::filesystem;
using namespace std::chrono_literals;

// What fails so often, with different videos, is not the videos' fault.
constexpr int k_most_failures_in_a_row = 3;
constexpr std::size_t k_released_at_once = 256;
const VideoMinutes k_all{Duration::max()};

bool is_stop(Code code) { return code == Code::interrupted || code == Code::terminated; }
bool is_of_input(Code code) {
  return code == Code::invalid || code == Code::not_found || code == Code::usage;
}

// A rename keeps all of it.
nlohmann::json identity_of(const fs::path& output) {
  struct stat found {};
  if (::stat(output.c_str(), &found) != 0) return nullptr;
  return {{"device", found.st_dev},
          {"inode", found.st_ino},
          {"bytes", found.st_size},
          {"changed_ns", found.st_mtim.tv_sec * 1'000'000'000 + found.st_mtim.tv_nsec}};
}

// Did a run end between giving the output its name and recording that?
bool is_there(const Job& job) {
  if (job.result.empty()) return false;
  const nlohmann::json intended = nlohmann::json::parse(job.result, nullptr, false);
  const nlohmann::json there = identity_of(job.spec.output);
  return there.is_object() && intended.is_object() && intended.contains("file") &&
         intended["file"] == there;
}

std::chrono::milliseconds milliseconds(VideoMinutes work) {
  return std::chrono::duration_cast<std::chrono::milliseconds>(work.audio());
}

nlohmann::ordered_json as_json(const JobRow& row) {
  nlohmann::ordered_json object;
  if (row.number > 0) object["row"] = row.number;
  if (!row.options.audio.empty()) put_path(object, "audio", row.options.audio.front());
  put_path(object, "output", row.options.output);
  return object;
}

}  // namespace

JobRunner::JobRunner(JobStore& store, SegmentFolders segments, VideoRenderer& renderer,
                     Context& context)
    : store_(store),
      segments_(std::move(segments)),
      renderer_(renderer),
      context_(context),
      worker_(this_process()) {}

void JobRunner::run(std::vector<JobRow>& rows) {
  requeue_unattended();
  segments_.sweep(store_);
  submit(rows);
  release_all();
  if (!pending_.empty()) renderer_.load();
  while (!pending_.empty()) {
    throw_if_stopped(context_.stop);
    const auto job = store_.claim(worker_, first_of(order_), store_.now());
    if (job) {
      render(*job, *pending_.at(job->number));
    } else {
      wait_for_others();
    }
  }
  context_.clear_progress();
  failed_.throw_if_any(rows.size());
}

void JobRunner::requeue_unattended() {
  requeue_of_dead_workers(store_, worker_);
  requeue_expired_leases(store_, worker_);
}

// A finished job whose video is gone stays as it is: the row is submitted anew, under a key of its own.
std::optional<Job> JobRunner::known(JobRow& row) {
  const std::string first = row.key;
  for (int again = 1;; ++again) {
    auto job = store_.find(k_local_tenant, row.key);
    std::error_code none;
    if (!job || job->state != JobState::done || fs::exists(row.options.output, none)) return job;
    row.key = fmt::format("{}:{}", first, again);
  }
}

void JobRunner::submit(std::vector<JobRow>& rows) {
  const Cause cause{operator_name(), "job run"};
  for (std::size_t i = 0; i < rows.size(); ++i) {
    JobRow& row = rows[i];
    throw_if_stopped(context_.stop);
    context_.progress("reading", i, rows.size());
    try {
      if (row.error) throw Error(*row.error);
      auto job = known(row);
      if (!job) {
        const VideoMinutes work(from_seconds(renderer_.speech_s(row.options)));
        job = store_.submit({.spec = row.spec, .work = work, .key = row.key}, cause, store_.now())
                  .job;
      } else if (is_final(job->state) && job->state != JobState::done) {
        job = store_.resubmit(job->id, cause, store_.now());
      }
      take_over(row, *job);
    } catch (const Error& error) {
      if (is_stop(error.code())) throw;
      report_failure(row, error);
    }
  }
  context_.clear_progress();
}

void JobRunner::take_over(const JobRow& row, const Job& job) {
  total_ += job.work;
  if (job.state == JobState::done) {
    done_ += job.work;
    report_earlier(row, job);
  } else if (pending_.emplace(job.number, &row).second) {
    order_.push_back(job.number);
  }
}

void JobRunner::release_all() {
  const Cause cause{worker_, "this machine has no budget to keep"};
  while (store_.release(k_local_tenant, k_all, k_released_at_once, cause, store_.now()).jobs > 0) {
  }
}

// Another run renders what is left, or a retry is not due yet.
void JobRunner::wait_for_others() {
  requeue_unattended();
  for (const std::int64_t number : std::vector(order_)) {
    const JobRow& row = *pending_.at(number);
    const auto job = store_.find(k_local_tenant, row.key);
    if (!job || !is_final(job->state)) continue;
    if (job->state == JobState::done) {
      report_earlier(row, *job);
    } else {
      report_failure(row, Error(job->state == JobState::failed ? Code::invalid : Code::failed,
                                job->error.empty() ? "was cancelled" : job->error));
    }
    finished(*job);
  }
  if (!pending_.empty()) seen_ = store_.wait_for_change(seen_, 1s, context_.stop);
}

void JobRunner::render(const Job& job, const JobRow& row) {
  const JobLease lease{job.id, job.epoch};
  if (is_there(job)) {
    store_.finish(lease, job.result, store_.now());
    segments_.remove(job.id);
    report_earlier(row, job);
    finished(job);
    return;
  }
  try {
    if (!render_under(lease, job, row)) return;
    failures_in_a_row_ = 0;
    finished(job);
  } catch (const DeviceLost& error) {
    // Not the video's fault, and no video can be rendered here any more.
    store_.yield(lease, error.message(), store_.now());
    throw;
  } catch (const Error& error) {
    if (is_stop(error.code())) {
      store_.yield(lease, "interrupted", store_.now());
      throw;
    }
    record_failure(lease, row, error);
  }
}

std::vector<std::string> JobRunner::finished_segments(const Job& job) {
  std::vector<std::string> records;
  for (const JobSegment& segment : store_.segments(job.id)) records.push_back(segment.result);
  return records;
}

bool JobRunner::render_under(const JobLease& lease, const Job& job, const JobRow& row) {
  const Clock::time_point start = Clock::now();
  KeptLease kept(store_, lease);
  bool lost = false;
  const auto keep = [&](bool held) {
    lost = !held;
    if (lost) throw Error(Code::failed, "another run has taken the job over");
  };
  nlohmann::json result;
  const auto advance = [&] {
    kept.advance();
    keep(!kept.lost());
  };
  const auto progress = [&](std::int64_t done, std::int64_t of) {
    advance();
    show_progress(VideoMinutes(job.work.audio() * done / std::max<std::int64_t>(of, 1)));
  };
  const auto finish_segment = [&](const FinishedSegment& segment) {
    kept.advance();
    keep(store_.finish_segment(lease,
                               {.index = segment.index,
                                .work = VideoMinutes(from_seconds(segment.duration_s)),
                                .result = segment.record},
                               store_.now()) != Recorded::refused);
  };
  const auto before_commit = [&](const fs::path& whole) {
    result["file"] = identity_of(whole);
    keep(store_.intend(lease, result.dump(), store_.now()) == Recorded::now);
  };
  show_progress({});
  FinishedVideo video;
  try {
    video =
        renderer_.render(row.options, {.progress = progress,
                                       .segments = SegmentWork{.folder = segments_.of(job.id),
                                                               .records = finished_segments(job),
                                                               .finished = finish_segment,
                                                               .joining = advance,
                                                               .storing = advance},
                                       .before_commit = before_commit});
  } catch (const Error& error) {
    if (!lost) throw;
    log::warn(fmt::format("{}: {}", row.name, error.message()));
    return false;
  }
  result["frames"] = video.frames;
  result["duration_s"] = video.duration_s;
  store_.finish(lease, result.dump(), store_.now());
  segments_.remove(job.id);
  report(row, job, video, std::chrono::duration<double>(Clock::now() - start).count());
  return true;
}

void JobRunner::record_failure(const JobLease& lease, const JobRow& row, const Error& error) {
  const bool of_input = is_of_input(error.code());
  if (of_input) {
    store_.refuse(lease, error.message(), store_.now());
  } else {
    store_.fail(lease, error.message(), store_.now());
  }
  const auto job = store_.find(lease.job);
  if (job && is_final(job->state)) {
    report_failure(row, error);
    finished(*job);
  } else {
    context_.clear_progress();
    log::warn(fmt::format("{}: {}; it is tried again", row.name, error.message()));
  }
  failures_in_a_row_ = of_input ? 0 : failures_in_a_row_ + 1;
  if (failures_in_a_row_ >= k_most_failures_in_a_row)
    throw error.within(
        fmt::format("{} tries in a row failed, what is left stays queued", failures_in_a_row_));
}

void JobRunner::report(const JobRow& row, const Job& job, const FinishedVideo& video,
                       double elapsed_s) {
  context_.clear_progress();
  if (context_.json) {
    nlohmann::ordered_json object = as_json(row);
    object["job"] = job.id.text;
    object["frames"] = video.frames;
    object["rendered_frames"] = video.rendered;
    object["duration_s"] = video.duration_s;
    object["elapsed_s"] = elapsed_s;
    context_.out.json(object);
  } else {
    context_.out.print("{}: {}, {}, {:.2f} s of video in {:.2f} s ({:.2f} x real time)\n", row.name,
                       row.options.output.native(), counted(video.frames, "frame"),
                       video.duration_s, elapsed_s, video.duration_s / elapsed_s);
  }
  context_.out.flush();
}

void JobRunner::report_earlier(const JobRow& row, const Job& job) {
  context_.clear_progress();
  if (context_.json) {
    nlohmann::ordered_json object = as_json(row);
    object["job"] = job.id.text;
    object["rendered_before"] = true;
    context_.out.json(object);
  } else {
    context_.out.print("{}: {}, rendered before\n", row.name, row.options.output.native());
  }
  context_.out.flush();
}

void JobRunner::report_failure(const JobRow& row, const Error& error) {
  failed_.add(row.name, error.code());
  context_.clear_progress();
  log::error(fmt::format("{}: {}", row.name, error.message()));
  if (!context_.json) return;
  nlohmann::ordered_json object = as_json(row);
  object["error"] = {{"code", name(error.code())}, {"message", error.message()}};
  context_.out.json(object);
  context_.out.flush();
}

void JobRunner::finished(const Job& job) {
  pending_.erase(job.number);
  std::erase(order_, job.number);
  done_ += job.work;
}

void JobRunner::show_progress(VideoMinutes current) {
  context_.video_progress("rendering", milliseconds(done_ + current), milliseconds(total_));
}

}  // namespace navtalk::cmd
