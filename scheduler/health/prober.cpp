#include "scheduler/health/prober.h"

#include <algorithm>
#include <exception>
#include <set>

#include "core/base/error.h"
#include "core/log/log.h"

namespace navtalk {
namespace {

constexpr std::size_t k_waiting = 256;  // what finds no room is asked at the next step
constexpr int k_proofs = 2;
constexpr int k_misses = 3;

constexpr int k_quick_asks = 4;  // of one that starts, before it is asked less often
constexpr int k_slowest = 4;     // times as seldom

bool serves(const Gpu& gpu) { return gpu.state == State::idle || gpu.state == State::running; }

bool same_state(const Gpu& a, const Gpu& b) {
  return a.state == b.state && a.intent.number == b.intent.number && a.url == b.url;
}

}  // namespace

Prober::Prober(PoolStore& store, ProberOptions options)
    : store_(store), options_(std::move(options)), serving_(k_waiting), others_(k_waiting) {
  for (int i = 0; i < options_.threads; ++i) {
    for (Channel<Gpu>* work : {&serving_, &others_}) {
      threads_.emplace_back([this, work](const std::stop_token& stop) { run(*work, stop); });
    }
  }
}

Prober::~Prober() {
  for (std::jthread& thread : threads_) thread.request_stop();
  serving_.close();
  others_.close();
}

bool Prober::due(const Gpu& gpu, bool leading, TimePoint now) const {
  if (gpu.url.empty()) return false;
  if (gpu.source == Source::local ? gpu.host != options_.host : !leading) return false;
  // While the provider is still at it, what answers may be the old worker.
  const bool starts = gpu.state == State::starting && gpu.intent.operation == Operation::none;
  const bool may_return = gpu.state == State::failed && gpu.source == Source::external;
  if (!starts && !may_return && !serves(gpu)) return false;
  return records_.with([&](const auto& records) {
    const auto record = records.find(gpu.id);
    if (record == records.end()) return true;
    Duration every = may_return ? options_.failed_every : options_.running_every;
    if (starts) {
      const int times = 1 + record->second.bad / k_quick_asks;
      every = options_.starting_every * std::min(times, k_slowest);
    }
    return !record->second.under_way && now - record->second.asked >= every;
  });
}

void Prober::step(bool leading) {
  const PoolView view = store_.view();
  for (const Gpu& gpu : view.gpus) {
    Channel<Gpu>& work = serves(gpu) ? serving_ : others_;
    if (work.size() >= k_waiting || !due(gpu, leading, view.now)) continue;
    records_.with([&](auto& records) {
      Record& record = records[gpu.id];
      record.under_way = true;
      record.asked = view.now;
    });
    work.push(gpu);
  }
  forget_removed(view);
}

// Not before there are more records than rows, since it looks at all of both.
void Prober::forget_removed(const PoolView& view) {
  records_.with([&](auto& records) {
    if (records.size() <= view.gpus.size()) return;
    std::set<GpuId> known;
    for (const Gpu& gpu : view.gpus) known.insert(gpu.id);
    std::erase_if(records, [&](const auto& entry) {
      return !entry.second.under_way && !known.contains(entry.first);
    });
  });
}

void Prober::run(Channel<Gpu>& work, const std::stop_token& stop) {
  WorkerClient client(options_.token, options_.client);
  while (!stop.stop_requested()) {
    const std::optional<Gpu> gpu = work.pop(stop);
    if (!gpu) return;
    try {
      probe(*gpu, client, stop);
    } catch (const std::exception& error) {
      log::warn("a probe could not be recorded", {{"gpu", gpu->id.text}, {"error", error.what()}});
    }
    records_.with([&](auto& records) { records[gpu->id].under_way = false; });
    const std::lock_guard lock(idle_mutex_);
    idle_.notify_all();
  }
}

bool Prober::wait_idle(Duration at_most, const std::stop_token& stop) {
  std::unique_lock lock(idle_mutex_);
  return idle_.wait_for(lock, stop, at_most, [this] {
    return records_.with([](const auto& records) {
      return std::none_of(records.begin(), records.end(),
                          [](const auto& entry) { return entry.second.under_way; });
    });
  });
}

Prober::Verdict Prober::ask(const Gpu& gpu, WorkerClient& client,
                            const std::stop_token& stop) const {
  WorkerAnswer answer;
  try {
    answer = client.health(gpu.url, stop);
  } catch (const Error& error) {
    return {.why = error.message()};  // a URL that is none
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
  const std::optional<std::string> second = good ? why_second(gpu) : std::nullopt;
  if (second) {
    refuse_second(gpu, *second);
  } else if (good) {
    well(gpu, verdict.slots, record.good, client, stop);
  } else {
    unwell(gpu, verdict, record.bad);
  }
}

Prober::Record Prober::note(const Gpu& gpu, const Verdict& verdict, TimePoint asked) {
  return records_.with([&](auto& records) {
    Record& known = records[gpu.id];
    const bool good = verdict.why.empty();
    // A worker that was started anew proves itself anew.
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

void Prober::well(const Gpu& gpu, int slots, int in_row, WorkerClient& client,
                  const std::stop_token& stop) {
  const TimePoint now = store_.now();
  const bool proving = gpu.state == State::starting || gpu.state == State::failed;
  store_.seen(gpu.id, now);
  if (!proving || in_row < k_proofs) return;
  if (const auto fault = client.handshake(gpu.url, "probe", 0, stop)) {
    return unwell(gpu, {.why = "no WebSocket reaches it: " + fault->message}, 1);
  }
  prove(gpu, slots, now);
}

void Prober::prove(const Gpu& gpu, int slots, TimePoint now) {
  const std::lock_guard lock(proving_);
  if (gpu.source == Source::external) {
    if (!heard_all_who_serve(gpu)) return;
    if (const auto second = why_second(gpu)) return refuse_second(gpu, *second);
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

void Prober::unwell(const Gpu& gpu, const Verdict& verdict, int in_row) {
  const bool starts = gpu.state == State::starting;
  const bool counts = serves(gpu) || (starts && gpu.source == Source::external && !verdict.loads);
  if (!counts) {
    // A start has its own deadline, which the scaler watches; a failed one is failed already.
    std::optional<Gpu> row = gpu;
    if (gpu.last_error != verdict.why) row = store_.missed(gpu.id, store_.now(), verdict.why);
    const bool hopeless = starts && verdict.refuses && in_row >= k_proofs;
    if (row && hopeless && same_state(*row, gpu)) fail(*row, verdict.why);
    return;
  }
  const TimePoint now = store_.now();
  const std::optional<Gpu> row = store_.missed(gpu.id, now, verdict.why);
  if (!row || (!serves(*row) && !same_state(*row, gpu))) return;
  const bool refused = starts && verdict.refuses && in_row >= k_proofs;
  const bool silent = row->misses >= k_misses && now - row->missed_since >= options_.grace;
  if (refused || silent) fail(*row, verdict.why);
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
