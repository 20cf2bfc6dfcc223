// Prober: what the workers' answers change in the store.
#include <algorithm>
#include <exception>
#include <map>
#include <set>

#include "core/log/log.h"
#include "scheduler/health/outage_rule.h"
#include "scheduler/health/prober.h"
#include "scheduler/pool/fail_row.h"
#include "scheduler/pool/faults/session_verdict.h"
#include "scheduler/pool/notices.h"

namespace navtalk {
namespace {

constexpr int k_proofs = 2;

bool same_state(const Gpu& a, const Gpu& b) {
  return a.state == b.state && a.intent.number == b.intent.number && a.url == b.url;
}

bool must_prove_itself(const Gpu& gpu) {
  return gpu.state == State::starting || gpu.state == State::failed;
}

// Whether its misses count: the scaler watches the deadline of a start, and a failed row is failed
// already.
bool misses_count(const Gpu& gpu, bool loads) {
  return gpu.serving() ||
         (gpu.state == State::starting && gpu.source == Source::external && !loads);
}

}  // namespace

// What waiting does not help.
bool Prober::hopeless(const Gpu& gpu, const Result& result) {
  if (result.verdict.unusable) return gpu.serving() || gpu.state == State::starting;
  return gpu.state == State::starting && result.verdict.refuses && result.in_row >= k_proofs;
}

// A miss may be recorded a little early or late. The one at the end of the grace time counts either way,
// or it would take one more probe.
Duration Prober::grace_of(const Gpu& row) const {
  const Duration every = options_.running_every;
  const bool at_the_end = every > Duration{} && row.misses > options_.grace / every;
  return at_the_end ? options_.grace - every / 2 : options_.grace;
}

// Answers that come within a short time are recorded together.
std::vector<Prober::Result> Prober::take_results(const std::stop_token& stop) {
  std::unique_lock lock(mutex_);
  if (!arrived_.wait(lock, stop, [this] { return !results_.empty(); })) return {};
  if (options_.record_every > Duration{}) {
    arrived_.wait_for(lock, stop, options_.record_every, [] { return false; });
  }
  return std::exchange(results_, {});
}

void Prober::run_recorder(const std::stop_token& stop) {
  while (!stop.stop_requested()) {
    const std::vector<Result> results = take_results(stop);
    if (results.empty() || stop.stop_requested()) continue;
    std::set<GpuId> proving;
    try {
      record(results, proving);
    } catch (const std::exception& error) {
      log::warn("probes could not be recorded",
                {{"count", std::to_string(results.size())}, {"error", error.what()}});
    }
    for (const Result& result : results) {
      if (!proving.contains(result.gpu.id)) ended(result.gpu.id);
    }
  }
}

// `proving`: those that are asked for a WebSocket now.
void Prober::record(const std::vector<Result>& results, std::set<GpuId>& proving) {
  std::vector<GoodAnswer> seen;
  std::vector<const Gpu*> healthy, proven;
  std::vector<Result> bad;
  for (const Result& result : results) {
    const Gpu& gpu = result.gpu;
    if (!result.verdict.why.empty()) {
      bad.push_back(result);
    } else if (result.upgraded) {
      proven.push_back(&gpu);
    } else if (const auto duplicate = why_duplicate(gpu)) {
      refuse_duplicate(gpu, *duplicate);
    } else {
      // The misses of one that failed say that it may return, until it has.
      if (gpu.state != State::failed) seen.push_back({gpu.id, result.verdict.reading});
      if (must_prove_itself(gpu) && result.in_row >= k_proofs) healthy.push_back(&gpu);
    }
  }
  if (!seen.empty()) store_.seen(seen, store_.now());
  record_misses(bad);
  for (const Gpu* gpu : healthy) {
    ask_for_upgrade(*gpu);
    proving.insert(gpu->id);
  }
  make_ready(proven);
}

void Prober::record_misses(const std::vector<Result>& results) {
  std::vector<Miss> misses;
  std::map<GpuId, const Result*> asked;
  for (const Result& result : results) {
    const Gpu& gpu = result.gpu;
    asked[gpu.id] = &result;
    // Of those whose misses do not count, only what is new is worth a write.
    if (misses_count(gpu, result.verdict.loads) || gpu.last_error != result.verdict.why ||
        hopeless(gpu, result)) {
      misses.push_back({gpu.id, result.verdict.why});
    }
  }
  if (misses.empty()) return;
  const TimePoint now = store_.now();
  std::vector<Gpu> lost;
  for (Gpu& row : store_.missed(misses, now)) {
    const Result& result = *asked.at(row.id);
    const bool counts = misses_count(result.gpu, result.verdict.loads);
    if (!same_state(row, result.gpu) && !(counts && row.serving())) continue;
    if (hopeless(row, result)) {
      fail(row, result.verdict.why);
    } else if (counts && misses_too_many(row, grace_of(row), now)) {
      row.last_error = result.verdict.why;
      lost.push_back(std::move(row));
    }
  }
  if (!lost.empty()) fail_lost(lost);
}

// Of each row the last error is the answer that loses it. The other GPUs are looked at as they are
// now: rows of one batch count for each other.
void Prober::fail_lost(const std::vector<Gpu>& rows) {
  const PoolView view = store_.view();
  const Outages outages = watch(view, true);
  for (const Gpu& row : rows) {
    const Outage outage = row.serving() ? outages[origin_of(row)] : Outage{};
    if (is_lost(row, outage, grace_of(row), view.now)) fail(row, row.last_error);
  }
}

// An outage begins only where a GPU would be lost otherwise, and may end at any time.
Outages Prober::watch(const PoolView& view, bool may_begin) {
  const Outages before = read_outages(store_);
  Outages after = before;
  for (const Origin origin : k_remote_origins) {
    Outage& outage = after[origin];
    if (!outage.on && !may_begin) continue;
    outage =
        judge(outage, count_answers(view.gpus, origin, outage, options_.grace, view.now), view.now);
  }
  if (after == before) return before;
  if (!replace_outages(store_, before, after)) return read_outages(store_);
  tell(before, after, view);
  return after;
}

void Prober::tell(const Outages& before, const Outages& after, const PoolView& view) {
  for (const Origin origin : k_remote_origins) {
    const Outage& outage = after[origin];
    if (outage == before[origin]) continue;
    const OriginAnswers answers =
        count_answers(view.gpus, origin, outage, options_.grace, view.now);
    const std::string missing = std::to_string(answers.missing);
    const std::string gpus = std::to_string(answers.gpus);
    const std::string provider(name(origin));
    const bool given_up = !outage.on && answers.gpus > 0 && answers.missing == answers.gpus;
    if (outage.on) {
      log::error(
          "most GPUs of one provider do not answer: taken for a fault of the network, so none of "
          "them is failed or destroyed",
          {{"provider", provider}, {"missing", missing}, {"gpus", gpus}});
    } else if (given_up) {
      log::error("the few GPUs of one provider have not answered for so long that they are failed",
                 {{"provider", provider}, {"gpus", gpus}});
    } else {
      log::warn("the GPUs of that provider answer again, or most of them",
                {{"provider", provider}, {"missing", missing}, {"gpus", gpus}});
    }
    store_.record(
        Cause{options_.who,
              provider + ": " + missing + " of " + gpus + " GPUs do not answer" +
                  std::string(outage.on ? notice::k_outage_begins : notice::k_outage_over)});
  }
}

// No start of an external worker counts: nobody waits for one.
void Prober::fail(const Gpu& row, const std::string& why) {
  fail_row(store_, row,
           {.cause = {options_.who, why},
            .start = row.source == Source::external ? std::nullopt
                                                    : std::optional(Attempt::Result::failed)});
}

// One after the other. The registered ones are compared with one view, in which those before them are
// ready, because thousands may return at once.
void Prober::make_ready(const std::vector<const Gpu*>& proven) {
  std::optional<PoolView> view;
  for (const Gpu* gpu : proven) {
    if (gpu->state == State::failed && blamed_for_sessions(store_, *gpu)) continue;
    if (gpu->source == Source::external) {
      if (!view) view = store_.view();
      if (!all_serving_answered(*gpu, *view)) continue;
      if (const auto duplicate = why_duplicate(*gpu)) {
        refuse_duplicate(*gpu, *duplicate);
        continue;
      }
    }
    if (!make_ready(*gpu) || !view) continue;
    const auto row = std::find_if(view->gpus.begin(), view->gpus.end(),
                                  [&](const Gpu& other) { return other.id == gpu->id; });
    if (row != view->gpus.end()) row->state = State::idle;
  }
}

// False: the row has changed since.
bool Prober::make_ready(const Gpu& gpu) {
  const std::optional<Gpu> row = store_.find(gpu.id);
  if (!row || !same_state(*row, gpu)) return false;
  GpuChange change{.id = row->id,
                   .version = row->version,
                   .event = Event::ready,
                   .last_error = "",
                   .reserved_for = WaiterId{}};
  const int slots = [&] {
    const std::lock_guard lock(mutex_);
    const ProbeRecords::Record* const record = records_.find(gpu.id);
    return record == nullptr ? 0 : record->slots;
  }();
  if (slots > 0 && slots < row->slots) change.slots = slots;
  const bool returns = row->state == State::failed;
  const std::string why = returns ? "answers again, and a WebSocket gets through"
                                  : "answers, and a WebSocket gets through";
  if (!store_.change(change, {options_.who, why})) return false;
  if (returns) {
    log::info("a GPU that had failed answers again", {{"gpu", gpu.id.text}});
    return true;
  }
  const TimePoint now = store_.now();
  store_.record(Attempt{.at = now,
                        .gpu = gpu.id,
                        .source = gpu.source,
                        .operation = being_woken(*row) ? Operation::wake : Operation::create,
                        .result = Attempt::Result::ok,
                        .took = now - gpu.since,
                        .detail = gpu.device});
  return true;
}

}  // namespace navtalk
