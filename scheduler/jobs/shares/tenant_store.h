// Tenants in a store of jobs: what each may have, how the capacity is divided between them now, and the
// release of their jobs. Error{failed} when the database cannot be reached or stays locked.
// Thread-safe; shared by processes, of which any may divide.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "scheduler/jobs/claim_order.h"
#include "scheduler/jobs/job_store.h"
#include "scheduler/jobs/lanes/lane_supply.h"
#include "scheduler/jobs/promises/finish_estimate.h"
#include "scheduler/jobs/promises/promise_table.h"
#include "scheduler/jobs/shares/batch_capacity.h"
#include "scheduler/jobs/shares/preemption.h"
#include "scheduler/jobs/shares/tenant_line.h"
#include "scheduler/jobs/video_minutes.h"
#include "scheduler/pool/pool_store.h"
#include "scheduler/store/transaction.h"

namespace navtalk {

using TenantTermsTable = std::map<TenantId, TenantTerms>;

// The state of the division at one time.
struct Division {
  std::vector<TenantLine> lines{};  // of tenants that have or had jobs
  BatchCapacity capacity{};         // as of the last division; its rate is the learnt one
  double correction = 1;            // of promises, see eta_correction.h
  LaneSupply supply{};              // as the lane said it last

  bool taught() const { return capacity.rate > 0; }  // jobs have shown how fast they are rendered
  // `capacity`, with the prior rate of the supply until jobs have taught one: what finish times are computed from.
  BatchCapacity expected_capacity() const;

  // The tenant's line; one without jobs for a tenant that has none.
  TenantLine& line_of(const TenantId& tenant, const TenantTerms& terms);
};

// The assured_share() of a line of the division, of its expected capacity; 0: the tenant has none.
double assured_share(const Division& division, const TenantId& tenant);

struct JobEstimate {
  Duration expected{};        // from now, in the mean
  Duration eta{};             // from now, which nine in ten stay below
  TimePoint promise{};        // now + eta
  std::int64_t position = 1;  // among the tenant's jobs that wait, queued and released, from 1
  FinishCause cause = FinishCause::rendering;

  friend bool operator==(const JobEstimate&, const JobEstimate&) = default;
};

// Whether a job's place in its tenant's queue is counted from the front or from the end: the nearer one reads less.
enum class CountFrom : std::uint8_t { front, end };

struct JobOutlook {
  std::optional<JobPromise> promise{};
  std::optional<JobEstimate> estimate{};   // of one that is not over, once anything is known
  std::optional<std::int64_t> position{};  // of one that is queued or released; see JobEstimate
};

// `count` of these jobs, whichever finish a segment first.
struct JobPreemption {
  std::vector<JobId> jobs{};
  std::size_t count = 0;

  friend bool operator==(const JobPreemption&, const JobPreemption&) = default;
};

class TenantStore {
 public:
  // `fixed` are the tenants of the configuration file, which stand above the store's.
  explicit TenantStore(std::shared_ptr<StoreBackend> backend, TenantTermsTable fixed = {})
      : backend_(std::move(backend)), fixed_(std::move(fixed)) {}

  TimePoint now() { return backend_->now(); }

  // Those of the file and of the store; other tenants have the defaults.
  TenantTermsTable table();
  TenantTerms terms_of(const TenantId& tenant);
  // Error{invalid} for a name or a value that is not valid, and for a tenant of the file.
  void set(const TenantId& tenant, const TenantTerms& terms);

  // Error{no_capacity} when so much more work would exceed what the tenant may have queued. What others
  // submit at the same time is not counted: queue_rule() counts it.
  void check_queue(const TenantId& tenant, VideoMinutes work);
  // The same for JobStore::submit(). This outlives it.
  SubmitRule queue_rule() const;

  Division division();
  // One turn, to be taken every second: learns from finished jobs, divides the budget of so many GPUs,
  // releases jobs, and changes promises that will be missed. Returns what was released. `slots` are those that jobs may
  // use at the moment, lent and free: some of them are kept free from a flood (flood_headroom.h). 0: it is not known.
  VideoMinutes divide(double gpus, const Cause& cause, TimePoint now, std::int64_t slots = 0);

  // Whether a job may be claimed in the order of by_shares(): there is one, and it is not held back while slots are kept free
  // from its tenant. A claim may find none all the same, at the largest number of a tenant's jobs.
  bool has_claimable(TimePoint now);
  // The jobs of this worker that give way to other tenants' jobs at the end of a segment. `lacks_slot`: a job waits, and no
  // slot is free. Otherwise those from whose tenant slots are kept free, while fewer are.
  std::vector<JobPreemption> preemptions(const std::string& worker, bool lacks_slot = true,
                                         const PreemptionRules& rules = {});

  // Promises the jobs' finish times and keeps them, to be scored; of each the estimate, nullopt for one
  // that is over or that no GPU would render. Turns promise such a job as soon as one would. In the order of submission, as
  // they were given.
  std::vector<std::optional<JobEstimate>> promise(std::span<const JobId> jobs, TimePoint now);
  std::optional<JobPromise> promise_of(const JobId& job);
  // What is known of a job's end now.
  JobOutlook outlook_of(const JobId& job, CountFrom from, TimePoint now);
  JobPromiseScore promise_score(TimePoint since);

 private:
  TenantTerms terms_in(Transaction& transaction, const TenantId& tenant) const;
  void check_queue_in(Transaction& transaction, const TenantId& tenant, VideoMinutes work) const;
  Division division_in(Transaction& transaction) const;
  TenantTermsTable table_in(Transaction& transaction) const;

  std::shared_ptr<StoreBackend> backend_;
  TenantTermsTable fixed_;
};

// The order of claims: each tenant's highest priority and earliest submission, and between tenants
// choose() of claim_choice.h. It writes what the tenant has had.
ClaimOrder by_shares(TenantTermsTable fixed = {});

}  // namespace navtalk
