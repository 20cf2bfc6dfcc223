#include "server/gateway/jobs/job_metrics.h"

#include "scheduler/pool/offline_demand.h"

namespace navtalk::server {

JobFacts read_job_facts(PoolStore& pool, TenantStore& tenants) {
  const TimePoint now = tenants.now();
  return {.division = tenants.division(),
          .promises = tenants.promise_score(now - std::chrono::hours(24)),
          .wanted_slots = wanted_slots(read_offline_demand(pool), now)};
}

void add_job_metrics(MetricsPage& page, const JobCounters& counters, std::size_t running) {
  page.gauge("navtalk_gateway_jobs", "Jobs that workers render for this gateway",
             static_cast<double>(running));
  page.counter("navtalk_gateway_jobs_begun_total", "Jobs that this gateway has given a slot",
               static_cast<double>(counters.begun));
  for (std::size_t i = 0; i < counters.ended.size(); ++i) {
    page.counter("navtalk_gateway_jobs_ended_total",
                 "Jobs that have left their slot, by what became of them",
                 static_cast<double>(counters.ended.at(i)),
                 {{"end", std::string(name(static_cast<JobRun::End>(i)))}});
  }
}

void add_job_metrics(MetricsPage& page, const JobFacts& facts) {
  TenantLine sum;
  for (const TenantLine& line : facts.division.lines) {
    sum.queued += line.queued;
    sum.released += line.released;
    sum.running += line.running;
    sum.queued_jobs += line.queued_jobs;
    sum.released_jobs += line.released_jobs;
    sum.running_jobs += line.running_jobs;
  }
  const auto state = [&](const char* name, std::int64_t jobs, VideoMinutes work) {
    page.gauge("navtalk_jobs", "Jobs that are not over, by state", static_cast<double>(jobs),
               {{"state", name}});
    page.gauge("navtalk_jobs_video_minutes", "Work of the jobs that are not over, by state",
               work.count(), {{"state", name}});
  };
  state("queued", sum.queued_jobs, sum.queued);
  state("released", sum.released_jobs, sum.released);
  state("running", sum.running_jobs, sum.running);
  page.gauge("navtalk_jobs_rate", "Video-minutes that one GPU renders in a minute, as learnt",
             facts.division.capacity.rate);
  page.gauge("navtalk_jobs_wanted_slots", "Slots that jobs want beside those of users",
             facts.wanted_slots);
  const auto promises = [&](const char* kept, std::int64_t jobs) {
    page.gauge("navtalk_jobs_promises", "Finished jobs of the last day, by their promised time",
               static_cast<double>(jobs), {{"kept", kept}});
  };
  promises("yes", facts.promises.kept);
  promises("no", facts.promises.known - facts.promises.kept);
}

}  // namespace navtalk::server
