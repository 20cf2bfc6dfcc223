// Reconciler: rows that the provider's list lacks.
#include <algorithm>
#include <utility>

#include "core/log/log.h"
#include "scheduler/provision/price.h"
#include "scheduler/provision/reconciler/reconciler.h"

namespace navtalk {
namespace {

constexpr int k_lists_without = 2;

// Does it matter whether the instance of a row still exists?
bool matters(const Gpu& gpu) {
  if (gpu.provider_id.empty()) return false;
  return gpu.state != State::failed || gpu.usd_per_hour > 0;
}

}  // namespace

// `missing`: not listed. False: some of them exist or may exist.
bool Reconciler::match_missing(const std::vector<const Gpu*>& missing,
                               const std::stop_token& stop) {
  std::vector<const Gpu*> questionable;
  bool whole = without_.empty();
  for (const Gpu* gpu : missing) {
    if (unsettled(*gpu) || !matters(*gpu)) continue;
    if (!listed(*gpu)) {
      carry_over(*gpu);
      continue;
    }
    if (now_ - gpu->created_at < options_.consistency_window) {
      check_soon_ = true;  // lists may be behind
      continue;
    }
    questionable.push_back(gpu);
  }
  whole = ask_for(questionable, stop) && whole;
  for (const Gpu* gpu : missing) {
    if (unsettled(*gpu)) match_unsettled(*gpu, whole);
  }
  if (whole) {
    short_reported_ = false;
    return true;
  }
  check_soon_ = true;
  // What a short list lacks is not over.
  seen_.orphans.insert(before_.orphans.begin(), before_.orphans.end());
  seen_.foreign.insert(before_.foreign.begin(), before_.foreign.end());
  return false;
}

// Would the list of this pass show it?
bool Reconciler::listed(const Gpu& gpu) const {
  return std::find(without_.begin(), without_.end(), origin_of(gpu)) == without_.end();
}

// Asks for rows that the list lacks. False: some of them exist or may exist.
bool Reconciler::ask_for(const std::vector<const Gpu*>& missing, const std::stop_token& stop) {
  bool whole = true;
  std::vector<const Gpu*> rows;
  for (const Gpu* gpu : missing) {
    if (!answers(*gpu)) {
      rows.push_back(gpu);
      continue;
    }
    whole = false;
    if (before_.replaced.contains(gpu->id)) seen_.replaced.insert(gpu->id);
    report_short(*gpu, "its worker answers");
  }
  const Lookups asked = look_up(provider_, std::move(rows), before_.asked, options_.lookups, stop);
  seen_.asked = asked.last;
  for (const auto& [gpu, answer] : asked.rows) {
    if (answer && std::holds_alternative<NotFound>(*answer)) {
      match_gone(*gpu);
      continue;
    }
    whole = false;
    if (const auto* instance = answer ? std::get_if<Instance>(&*answer) : nullptr) {
      report_short(*gpu, "its provider knows its id");
      match(*gpu, *instance);
      continue;
    }
    carry_over(*gpu);
    if (answer) report_short(*gpu, std::get<NoAnswer>(*answer).message);
  }
  return whole;
}

// Does its worker answer? A local process that is not listed has ended, whatever it answered before, and
// what is being destroyed may end at any time.
bool Reconciler::answers(const Gpu& gpu) const {
  const bool ends = gpu.intent.operation == Operation::destroy;
  if (ends || provider_.source() == Source::local || gpu.seen_at == TimePoint{}) return false;
  const bool last_probe_was_good = gpu.serving() && gpu.misses == 0;
  return last_probe_was_good || listed_at_ - gpu.seen_at <= options_.answered_within;
}

// This pass has learned nothing about it.
void Reconciler::carry_over(const Gpu& gpu) {
  if (before_.replaced.contains(gpu.id)) seen_.replaced.insert(gpu.id);
  const auto before = before_.missing.find(gpu.id);
  if (before != before_.missing.end()) seen_.missing.insert(*before);
}

// Once, until a list is whole again.
void Reconciler::report_short(const Gpu& gpu, const std::string& why) {
  if (std::exchange(short_reported_, true)) return;
  log::warn("the provider's list lacks GPUs that exist or may exist: none is failed for that",
            {{"provider", name(provider_.source())},
             {"gpu", gpu.id.text},
             {"provider_id", gpu.provider_id},
             {"why", why}});
}

void Reconciler::match_unsettled(const Gpu& gpu, bool whole) {
  check_soon_ = true;
  // A dead owner's lease may end in the future: the consistency window starts now.
  if (gpu.intent.until > now_) {
    Intent intent = gpu.intent;
    intent.owner.clear();
    intent.until = now_;
    store_.change({.id = gpu.id, .version = gpu.version, .intent = intent},
                  {options_.who, "its creator is dead: looking for what it created"});
  } else if (whole && now_ >= gpu.intent.until + options_.consistency_window) {
    const std::string no_effect = "the create call had no effect";
    store_.change(
        {.id = gpu.id,
         .version = gpu.version,
         .event = next(gpu.state, Event::fail) ? std::optional(Event::fail) : std::nullopt,
         .last_error = gpu.last_error.empty() ? no_effect : no_effect + ": " + gpu.last_error,
         .intent = cleared_intent(gpu)},
        {options_.who, "never appeared at the provider"});
  }
}

// The list lacks it, and the provider does not know its id.
void Reconciler::match_gone(const Gpu& gpu) {
  const auto before = before_.missing.find(gpu.id);
  const int absent = before == before_.missing.end() ? 1 : before->second + 1;
  check_soon_ = true;
  if (absent < k_lists_without) {
    seen_.missing[gpu.id] = absent;
    return;
  }
  const std::optional<Gpu> row = store_.find(gpu.id);
  // Its worker may have answered meanwhile, and its create may be much younger than its row.
  const TimePoint made = open_span_since(store_, gpu).value_or(gpu.created_at);
  if (!row || answers(*row) || now_ - made < options_.consistency_window) return;
  const std::string why = "gone: its provider neither lists it nor knows its id";
  if (gpu.intent.operation == Operation::destroy) {
    store_.remove(gpu.id, gpu.version, {options_.who, why});
  } else if (gpu.state == State::failed) {
    store_.change({.id = gpu.id, .version = gpu.version, .usd_per_hour = 0}, {options_.who, why});
  } else {
    fail(gpu, why, true);
  }
}

}  // namespace navtalk
