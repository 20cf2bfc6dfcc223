#include "scheduler/health/prober.h"

#include <algorithm>
#include <exception>
#include <memory>
#include <set>

#include "core/base/error.h"
#include "core/log/log.h"
#include "scheduler/pool/session_faults.h"

namespace navtalk {
namespace {

constexpr std::size_t k_queue = 256;  // what finds no room is asked at the next step
constexpr int k_proofs = 2;
constexpr int k_misses = 3;
// A starting worker is asked less often after every so many bad answers, down to a quarter.
constexpr int k_quick_asks = 4;
constexpr int k_slowest = 4;

bool same_state(const Gpu& a, const Gpu& b) {
  return a.state == b.state && a.intent.number == b.intent.number && a.url == b.url;
}

}  // namespace

Prober::Prober(PoolStore& store, ProberOptions options)
    : store_(store),
      options_(std::move(options)),
      serving_(options_.threads, k_queue, [this] { return make_work(); }),
      others_(options_.threads, k_queue, [this] { return make_work(); }) {}

Prober::~Prober() {
  serving_.request_stop();  // both at once, not one after the other
  others_.request_stop();
}

// Each thread has a client of its own.
RowWorkers::Work Prober::make_work() {
  auto client = std::make_shared<WorkerClient>(options_.token, options_.client);
  return [this, client](const Gpu& gpu, const std::stop_token& stop) {
    try {
      probe(gpu, *client, stop);
    } catch (const std::exception& error) {
      log::warn("a probe could not be recorded", {{"gpu", gpu.id.text}, {"error", error.what()}});
    }
  };
}

bool Prober::due(const Gpu& gpu, bool leading, TimePoint now) const {
  if (gpu.url.empty()) return false;
  if (gpu.source == Source::local ? gpu.host != options_.host : !leading) return false;
  // While an operation of the provider is under way, the old worker may answer.
  const bool starts = gpu.state == State::starting && gpu.intent.operation == Operation::none;
  const bool may_return = gpu.state == State::failed && gpu.source == Source::external;
  if (!starts && !may_return && !gpu.serving()) return false;
  if (serving_.under_way(gpu.id) || others_.under_way(gpu.id)) return false;
  return records_.with([&](const auto& records) {
    const auto record = records.find(gpu.id);
    if (record == records.end()) return true;
    Duration every = may_return ? options_.failed_every : options_.running_every;
    if (starts) {
      const int times = 1 + record->second.bad / k_quick_asks;
      every = options_.starting_every * std::min(times, k_slowest);
    }
    return now - record->second.asked >= every;
  });
}

void Prober::step(bool leading) {
  const PoolView view = store_.view();
  for (const Gpu& gpu : view.gpus) {
    if (!due(gpu, leading, view.now) || !(gpu.serving() ? serving_ : others_).start(gpu)) continue;
    records_.with([&](auto& records) { records[gpu.id].asked = view.now; });
  }
  forget_removed(view);
}

// Only when there are more records than rows, because it visits all of both.
void Prober::forget_removed(const PoolView& view) {
  records_.with([&](auto& records) {
    if (records.size() <= view.gpus.size()) return;
    std::set<GpuId> known;
    for (const Gpu& gpu : view.gpus) known.insert(gpu.id);
    std::erase_if(records, [&](const auto& entry) { return !known.contains(entry.first); });
  });
}

bool Prober::wait_idle(Duration at_most, const std::stop_token& stop) {
  const auto deadline = std::chrono::steady_clock::now() + at_most;
  return serving_.wait_idle(at_most, stop) &&
         others_.wait_idle(
             std::chrono::duration_cast<Duration>(deadline - std::chrono::steady_clock::now()),
             stop);
}

Prober::Verdict Prober::ask(const Gpu& gpu, WorkerClient& client,
                            const std::stop_token& stop) const {
  WorkerAnswer answer;
  try {
    answer = client.health(gpu.url, stop);
  } catch (const Error& error) {
    return {.why = error.message()};  // the URL is not valid
  }
  if (const auto* fault = std::get_if<WorkerFault>(&answer)) {
    return {.why = fault->message,
            .refuses = fault->kind == WorkerFault::Kind::denied ||
                       fault->kind == WorkerFault::Kind::protocol};
  }
  const auto& health = std::get<WorkerHealth>(answer);
  return {.why = why_unready(health, gpu.source == Source::cloud).value_or(""),
          .loads = health.state == "starting",
          .slots = health.slots,
          .instance = health.instance};
}

void Prober::probe(const Gpu& gpu, WorkerClient& client, const std::stop_token& stop) {
  const TimePoint asked = store_.now();
  const Verdict verdict = ask(gpu, client, stop);
  if (stop.stop_requested()) return;
  const bool good = verdict.why.empty();
  const Record record = note(gpu, verdict, asked);
  const std::optional<std::string> duplicate = good ? why_duplicate(gpu) : std::nullopt;
  if (duplicate) {
    refuse_duplicate(gpu, *duplicate);
  } else if (good) {
    handle_good(gpu, verdict.slots, record.good, client, stop);
  } else {
    handle_bad(gpu, verdict, record.bad);
  }
}

Prober::Record Prober::note(const Gpu& gpu, const Verdict& verdict, TimePoint asked) {
  return records_.with([&](auto& records) {
    Record& known = records[gpu.id];
    const bool good = verdict.why.empty();
    // A restarted worker must prove itself again.
    if (good && verdict.instance != known.instance) known.good = 0;
    if (good && known.good == 0) known.since = store_.now();
    if (good) {
      known.instance = verdict.instance;
      known.answered = asked;
    }
    known.good = good ? known.good + 1 : 0;
    known.bad = good ? 0 : known.bad + 1;
    return known;
  });
}

void Prober::handle_good(const Gpu& gpu, int slots, int in_row, WorkerClient& client,
                         const std::stop_token& stop) {
  const TimePoint now = store_.now();
  const bool proving = gpu.state == State::starting || gpu.state == State::failed;
  store_.seen(gpu.id, now);
  if (!proving || in_row < k_proofs) return;
  if (const auto fault = client.handshake(gpu.url, "probe", 0, stop)) {
    return handle_bad(gpu, {.why = "no WebSocket reaches it: " + fault->message}, 1);
  }
  prove(gpu, slots, now);
}

void Prober::prove(const Gpu& gpu, int slots, TimePoint now) {
  const std::lock_guard lock(proving_);
  if (gpu.state == State::failed && blamed_for_sessions(store_, gpu.id)) return;
  if (gpu.source == Source::external) {
    if (!all_serving_answered(gpu)) return;
    if (const auto duplicate = why_duplicate(gpu)) return refuse_duplicate(gpu, *duplicate);
  }
  const std::optional<Gpu> row = store_.find(gpu.id);
  if (!row || !same_state(*row, gpu)) return;
  GpuChange change{.id = row->id,
                   .version = row->version,
                   .event = Event::ready,
                   .last_error = "",
                   .reserved_for = WaiterId{}};
  if (slots > 0 && slots < row->slots) change.slots = slots;
  if (!store_.change(change, {options_.who, "answers, and a WebSocket gets through"})) return;
  if (gpu.state != State::starting) return;
  store_.record(Attempt{.at = now,
                        .gpu = gpu.id,
                        .source = gpu.source,
                        .operation = being_woken(gpu) ? Operation::wake : Operation::create,
                        .result = Attempt::Result::ok,
                        .took = now - gpu.since,
                        .detail = gpu.device});
}

void Prober::handle_bad(const Gpu& gpu, const Verdict& verdict, int in_row) {
  const bool starts = gpu.state == State::starting;
  const bool counts = gpu.serving() || (starts && gpu.source == Source::external && !verdict.loads);
  if (!counts) {
    // The scaler watches the deadline of a start; a failed row is failed already.
    std::optional<Gpu> row = gpu;
    if (gpu.last_error != verdict.why) row = store_.missed(gpu.id, store_.now(), verdict.why);
    const bool hopeless = starts && verdict.refuses && in_row >= k_proofs;
    if (row && hopeless && same_state(*row, gpu)) fail(*row, verdict.why);
    return;
  }
  const TimePoint now = store_.now();
  const std::optional<Gpu> row = store_.missed(gpu.id, now, verdict.why);
  if (!row || (!row->serving() && !same_state(*row, gpu))) return;
  const bool refused = starts && verdict.refuses && in_row >= k_proofs;
  const bool lost = row->misses >= k_misses && now - row->missed_since >= options_.grace;
  if (refused || lost) fail(*row, verdict.why);
}

void Prober::fail(const Gpu& row, const std::string& why) {
  const GpuChange change{
      .id = row.id, .version = row.version, .event = Event::fail, .last_error = why};
  if (!store_.change(change, {options_.who, why})) return;
  log::warn("a GPU failed", {{"gpu", row.id.text}, {"error", why}});
  if (row.state != State::starting || row.source == Source::external) return;
  store_.record(Attempt{.at = store_.now(),
                        .gpu = row.id,
                        .source = row.source,
                        .operation = being_woken(row) ? Operation::wake : Operation::create,
                        .result = Attempt::Result::failed,
                        .took = store_.now() - row.since,
                        .detail = why});
}

}  // namespace navtalk
