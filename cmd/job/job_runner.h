// Renders jobs of the local store one after the other, in this process, until all that it was given are
// over: by this run, or by another that has the same ones. One thread.
#pragma once

#include <chrono>
#include <cstddef>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "cmd/context.h"
#include "cmd/infer/failed_inputs.h"
#include "cmd/infer/video_renderer.h"
#include "cmd/job/job_rows.h"
#include "cmd/job/segment_folders.h"
#include "scheduler/jobs/job_store.h"

namespace navtalk::cmd {

class JobRunner {
 public:
  JobRunner(JobStore& store, SegmentFolders segments, VideoRenderer& renderer, Context& context);

  // Submits the rows, unless an earlier run did, and renders them. Reports each as it is over.
  // Error that names those that failed, at the end; Error{interrupted} and Error{terminated} with all
  // that is unfinished back in the queue.
  void run(std::vector<JobRow>& rows);

 private:
  using Clock = std::chrono::steady_clock;

  void requeue_unattended();
  // What became of the row before this run; sets its key.
  std::optional<Job> known(JobRow& row);
  void submit(std::vector<JobRow>& rows);
  void take_over(const JobRow& row, const Job& job);
  void release_all();
  void wait_for_others();
  void render(const Job& job, const JobRow& row);
  // Renders under the lease; false: the lease was lost.
  bool render_under(const JobLease& lease, const Job& job, const JobRow& row);
  std::vector<std::string> finished_segments(const Job& job);
  void record_failure(const JobLease& lease, const JobRow& row, const Error& error);
  void report(const JobRow& row, const Job& job, const FinishedVideo& video, double elapsed_s);
  void report_earlier(const JobRow& row, const Job& job);
  void report_failure(const JobRow& row, const Error& error);
  void finished(const Job& job);  // in whatever way: no longer waited for
  void show_progress(VideoMinutes current);

  JobStore& store_;
  const SegmentFolders segments_;
  VideoRenderer& renderer_;
  Context& context_;
  const std::string worker_;
  std::map<std::int64_t, const JobRow*> pending_;  // by the jobs' numbers
  std::vector<std::int64_t> order_;                // of the rows
  FailedInputs failed_;
  VideoMinutes total_, done_;
  std::uint64_t seen_ = 0;  // changes of the store
  int failures_in_a_row_ = 0;
};

}  // namespace navtalk::cmd
