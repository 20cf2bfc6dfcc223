#include "server/gateway/jobs/job_dispatcher.h"

#include <algorithm>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <chrono>
#include <iterator>
#include <set>
#include <utility>
#include <vector>

#include "core/log/log.h"
#include "core/process/identity.h"
#include "scheduler/jobs/unattended.h"
#include "server/gateway/jobs/job_trace.h"

namespace navtalk::server {
namespace asio = boost::asio;
using namespace std::chrono_literals;

namespace {

constexpr auto k_least_pause = 50ms;
constexpr const char* k_gateway_stops = "the gateway stops";

}  // namespace

// One lent slot, and the job on it.
struct JobDispatcher::Running {
  Running(const asio::any_io_executor& executor, const Parts& parts)
      : changed(executor),
        claim(parts.allocator, parts.runs.store_threads, changed,
              {.lane = Lane::batch, .keep_free = parts.keep_free}),
        keeper(parts.keeper) {
    keeper.add(claim);
  }
  ~Running() { keeper.remove(claim); }
  Running(const Running&) = delete;
  Running& operator=(const Running&) = delete;

  Signal changed;
  SlotClaim claim;
  LeaseKeeper& keeper;
  std::optional<JobRun> run{};
};

JobDispatcher::JobDispatcher(asio::any_io_executor executor, Parts parts)
    : executor_(executor),
      parts_(parts),
      owner_(this_process()),
      changed_(executor),
      ended_(executor),
      folder_(executor, parts.runs.files, parts.folder_looks),
      old_files_(executor, {.store = parts.runs.store,
                            .files = parts.runs.files,
                            .threads = parts.runs.bucket_threads,
                            .keep = parts.keep,
                            .stop = drained_.get_token()}),
      unkept_(parts.times.first_pause) {}

JobDispatcher::~JobDispatcher() = default;

void JobDispatcher::note_change() { changed_.notify(); }

void JobDispatcher::note_submission() {
  turned_ = {};
  changed_.notify();
}

asio::awaitable<void> JobDispatcher::cancel(const JobId& job) {
  for (const auto& running : runs_) {
    if (running->run && running->run->job() == job) running->run->stop("cancelled");
  }
  co_await tell_trace(job);
}

// Nothing where the job is not over. A trace that cannot be told is not worth an error of the job's.
asio::awaitable<void> JobDispatcher::tell_trace(const JobId& job) {
  if (!parts_.traces || !parts_.traces->takes_next()) co_return;
  JobStore& store = parts_.runs.store;
  auto read = [&]() -> std::vector<Span> {
    try {
      const std::optional<Job> now = store.find(job);
      if (now) return job_spans(*now, store.history(job));
    } catch (const Error& error) {
      log::debug("a job's trace is not told", {{"job", job.text}, {"error", error.message()}});
    }
    return {};
  };
  std::vector<Span> spans = co_await parts_.runs.store_threads.run(read);
  parts_.traces->add(std::move(spans));
}

std::optional<double> JobDispatcher::progress(const JobId& job) const {
  for (const auto& running : runs_) {
    if (running->run && running->run->job() == job) return running->run->progress();
  }
  return std::nullopt;
}

asio::awaitable<void> JobDispatcher::run() {
  asio::co_spawn(executor_, keep_leases(), asio::detached);
  while (!draining_) {
    try {
      co_await round();
      errors_.well("jobs");
    } catch (const std::exception& error) {
      reached_ = Clock::now();
      errors_.failed("jobs", error.what());
    }
    if (draining_) break;
    // Its own changes wake it, too.
    asio::steady_timer pause(executor_, k_least_pause);
    co_await pause.async_wait(asio::as_tuple(asio::use_awaitable));
    co_await changed_.wait(Clock::now() + k_lane_round);
  }
  stopped_ = true;
  ended_.notify();
}

asio::awaitable<void> JobDispatcher::round() {
  folder_.look_if_due(changed_);
  if (Clock::now() - requeued_ >= parts_.times.look_every) {
    requeued_ = Clock::now();
    co_await requeue();
  }
  old_files_.look_if_due();
  if (Clock::now() - turned_ >= k_lane_round) {
    turned_ = Clock::now();
    co_await take_turn();
  }
  users_wait_ = lacks_slot_ = false;
  if (!runs_.empty()) co_await yield_to_users();
  co_await mark_late();  // behind what a store that takes nothing must not keep from users
  bool more = true;
  while (more && !draining_ && may_begin()) more = co_await begin_one();
  // It has no room for a job, however many slots are free: what it runs may give way all the same.
  if (more && !draining_ && !runs_.empty()) lacks_slot_ = co_await has_claimable();
  if (!runs_.empty()) co_await give_way();
}

asio::awaitable<void> JobDispatcher::requeue() {
  JobStore& store = parts_.runs.store;
  std::set<JobId> mine;
  for (const auto& running : runs_) mine.insert(running->run->job());
  std::vector<Job> lost, expired;
  auto work = [&] {
    lost = requeue_of_dead_workers(store, owner_);
    const TimePoint now = store.now();
    if (looked_ && now - *looked_ > parts_.times.longest_round) reached_ = Clock::now();
    looked_ = now;
    // After an outage of the store others renew their leases first (lease_expiry.h has the same rule).
    if (Clock::now() - reached_ >= parts_.times.renewal_grace)
      expired = requeue_expired_leases(store, owner_, mine);
  };
  co_await parts_.runs.store_threads.run(work);
  std::move(expired.begin(), expired.end(), std::back_inserter(lost));
  for (const Job& job : lost) {
    if (is_final(job.state)) co_await tell_trace(job.id);
  }
}

asio::awaitable<void> JobDispatcher::keep_leases() {
  asio::steady_timer pause(executor_);
  for (Clock::time_point next = Clock::now(); !stopped_ || !runs_.empty();) {
    next = std::max(next + parts_.times.renew_every, Clock::now());
    pause.expires_at(next);
    co_await pause.async_wait(asio::as_tuple(asio::use_awaitable));
    co_await renew();
  }
}

asio::awaitable<void> JobDispatcher::renew() {
  const std::vector<std::shared_ptr<Running>> running(runs_.begin(), runs_.end());
  if (running.empty()) co_return;
  std::vector<JobLease> leases;
  for (const auto& one : running) leases.push_back(one->run->lease());
  auto work = [&]() -> std::vector<bool> {
    JobStore& store = parts_.runs.store;
    try {
      return store.renew(leases, store.now());
    } catch (const std::exception& error) {
      // Without the store nobody else can claim the jobs, and the workers go on.
      log::warn("the leases of jobs cannot be renewed now",
                {{"jobs", std::to_string(leases.size())}, {"error", error.what()}});
      return std::vector<bool>(leases.size(), true);
    }
  };
  const std::vector<bool> held = co_await parts_.renewals.run(work);
  for (std::size_t i = 0; i < running.size(); ++i) {
    if (!held[i]) running[i]->run->lose_lease();
  }
}

asio::awaitable<void> JobDispatcher::take_turn() {
  auto turn = [this] { parts_.lane.turn(); };
  co_await parts_.runs.store_threads.run(turn);
}

asio::awaitable<void> JobDispatcher::yield_to_users() {
  std::size_t wanted = 0;
  auto count = [this, &wanted] {
    const std::size_t users = parts_.pool.waiters().size();
    const std::size_t free = parts_.keep_free > 0 ? parts_.allocator.free_slots() : 0;
    wanted = wanted_back(users, free, static_cast<std::size_t>(parts_.keep_free));
    return users;
  };
  const std::size_t users = co_await parts_.runs.store_threads.run(count);
  users_wait_ = users > 0;
  const auto first = static_cast<std::ptrdiff_t>(first_to_yield(runs_.size(), wanted));
  for (auto at = std::next(runs_.begin(), first); at != runs_.end(); ++at) {
    if ((*at)->run && !(*at)->run->yields())
      (*at)->run->yield_by(Clock::now() + parts_.times.yield_within);
  }
}

asio::awaitable<void> JobDispatcher::give_way() {
  std::vector<JobPreemption> wanted;
  if (!users_wait_) {
    auto look = [this, lacks_slot = lacks_slot_] {
      return parts_.tenants.preemptions(owner_, lacks_slot, parts_.preemption);
    };
    wanted = co_await parts_.runs.store_threads.run(look);
  }
  std::size_t leaving = 0;  // of which the store did not know yet, perhaps
  for (const auto& running : runs_) {
    running->run->may_give_way(nullptr);
    leaving += running->run->gave_way() ? 1 : 0;
  }
  for (const JobPreemption& one : wanted) {
    const std::size_t left = std::min(leaving, one.count);
    leaving -= left;
    const auto places = std::make_shared<std::size_t>(one.count - left);
    for (const auto& running : runs_) {
      if (std::ranges::find(one.jobs, running->run->job()) != one.jobs.end())
        running->run->may_give_way(places);
    }
  }
}

// One that has missed a heartbeat has other slots, perhaps.
std::vector<GpuId> JobDispatcher::unfit() {
  std::vector<GpuId> gpus = resting_.at(Clock::now());
  for (const auto& running : runs_) {
    if (running->run->missed_heartbeat()) gpus.push_back(running->run->slot().gpu);
  }
  return gpus;
}

// For other gateways, whose jobs would go there.
asio::awaitable<void> JobDispatcher::mark_late() {
  std::vector<LeaseId> late;
  for (const auto& running : runs_) {
    if (running->run->missed_heartbeat()) late.push_back(running->run->slot().id);
  }
  if (late == late_) co_return;
  auto mark = [&] { parts_.late.mark(parts_.allocator.options().gateway, late); };
  late_.reset();
  co_await parts_.runs.store_threads.run(mark);
  late_ = std::move(late);
}

bool JobDispatcher::may_begin() const {
  const bool keeps = folder_problem().empty() && !unkept_.pauses(Clock::now());
  return keeps && runs_.size() < parts_.most_runs;
}

asio::awaitable<bool> JobDispatcher::has_claimable() {
  TenantStore& tenants = parts_.tenants;
  auto look = [&tenants] { return tenants.has_claimable(tenants.now()); };
  co_return co_await parts_.runs.store_threads.run(look);
}

asio::awaitable<bool> JobDispatcher::begin_one() {
  JobStore& store = parts_.runs.store;
  const bool any = co_await has_claimable();
  if (!any) co_return false;
  const auto running = std::make_shared<Running>(executor_, parts_);
  for (const GpuId& gpu : unfit()) running->claim.refuse(gpu);
  const Allocation slot = co_await running->claim.borrow();
  const auto* const lease = std::get_if<Lease>(&slot);
  lacks_slot_ = lease == nullptr;
  if (lacks_slot_) co_return false;
  if (!may_begin()) {  // a job that ended meanwhile, and left this slot, has shown that none can be kept
    co_await running->claim.release();
    co_return false;
  }
  std::optional<Job> job;
  std::exception_ptr problem;
  try {
    auto claim = [&] {
      return store.claim(owner_, parts_.order, std::nullopt, claimed_on(lease->gpu));
    };
    job = co_await parts_.runs.store_threads.run(claim);
  } catch (...) {
    problem = std::current_exception();
  }
  if (!job) {
    co_await running->claim.release();
    if (problem) std::rethrow_exception(problem);
    co_return false;
  }
  ++counters_.begun;
  resting_.begun(job->spec.tenant, Clock::now());
  JobRun::Earlier before = earlier(job->id);
  before.ask_another = co_await asks_another(job->id, lease->gpu);
  running->run.emplace(parts_.runs, *job, running->claim, running->changed, before);
  runs_.push_back(running);
  if (draining_) running->run->stop(k_gateway_stops);  // since the slot was asked for
  asio::co_spawn(executor_, follow(running), asio::detached);
  co_return true;
}

asio::awaitable<void> JobDispatcher::follow(std::shared_ptr<Running> running) {
  const JobRun::End end = co_await running->run->run();
  ++counters_.of(end);
  judge_worker(*running->run, end);
  count_own_faults(running->run->job(), end);
  co_await running->claim.release();
  if (!goes_on(end) && end != JobRun::End::lost) co_await tell_trace(running->run->job());
  runs_.remove(running);
  changed_.notify();
  ended_.notify();
}

void JobDispatcher::judge_worker(const JobRun& run, JobRun::End end) {
  using enum JobRun::End;
  const GpuId& gpu = run.slot().gpu;
  if (end == done) resting_.done(gpu);
  if (end == refused || end == doubted) resting_.refused(gpu, run.tenant(), Clock::now());
  if (end == worker) resting_.failed(gpu, Clock::now());
  if (end == doubted) doubted_.doubted(run.job(), gpu);
  if (end == done || end == refused) doubted_.ended(run.job());
}

asio::awaitable<bool> JobDispatcher::asks_another(JobId job, GpuId gpu) {
  if (resting_.believed(gpu) || !doubted_.may_doubt(job, gpu)) co_return false;
  auto look = [this, &gpu] {
    try {
      return std::ranges::any_of(parts_.pool.view().gpus,
                                 [&](const Gpu& one) { return one.id != gpu && one.serving(); });
    } catch (const Error&) {
      return false;  // the job is claimed, and begins all the same
    }
  };
  co_return co_await parts_.runs.store_threads.run(look);
}

JobRun::Earlier JobDispatcher::earlier(const JobId& job) const {
  const auto unreadable = unreadable_.find(job);
  return {.unreadable = unreadable == unreadable_.end() ? 0 : unreadable->second,
          .gateway = unkept_.times(job)};
}

void JobDispatcher::count_own_faults(const JobId& job, JobRun::End end) {
  if (end != JobRun::End::unreadable || ++unreadable_[job] >= JobRun::k_unreadable)
    unreadable_.erase(job);
  if (end == JobRun::End::gateway) {
    folder_.doubt();
    unkept_.failed(job, Clock::now());
  } else if (end == JobRun::End::done) {
    unkept_.done(job);
  } else {
    unkept_.ended(job);
  }
}

asio::awaitable<void> JobDispatcher::drain() {
  draining_ = true;
  drained_.request_stop();
  changed_.notify();
  for (const auto& running : runs_) running->run->stop(k_gateway_stops);
  while (!stopped_ || !runs_.empty()) co_await ended_.wait(Clock::now() + k_lane_round);
}

}  // namespace navtalk::server
