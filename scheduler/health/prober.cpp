#include "scheduler/health/prober.h"

#include <algorithm>

#include "core/base/error.h"
#include "scheduler/health/outage_rule.h"

namespace navtalk {
namespace {

// A starting worker is asked less often after every so many bad answers, down to a quarter.
constexpr int k_quick_asks = 4;
constexpr int k_slowest = 4;

std::string advice(const Gpu& gpu, const WorkerFault& fault) {
  if (gpu.source != Source::external || fault.kind != WorkerFault::Kind::denied) return "";
  return "; 'navtalk pool token " + gpu.url + "' prints the token that it needs";
}

}  // namespace

Prober::Prober(PoolStore& store, ProberOptions options)
    : store_(store),
      options_(std::move(options)),
      rows_(store, options_.look_every),
      client_({.at_once = options_.at_once}),
      recorder_([this](const std::stop_token& stop) { run_recorder(stop); }) {}

// A registered GPU that failed is asked seldom, for as long as it takes. Others have little time, and
// the second answer is asked for soon.
Duration Prober::period(const Gpu& gpu, const ProbeRecords::Record& record) const {
  if (gpu.serving()) return options_.running_every;
  if (gpu.state == State::starting) {
    return options_.starting_every * std::min(1 + record.bad / k_quick_asks, k_slowest);
  }
  if (gpu.source == Source::external) return options_.failed_every;
  return record.good > 0 ? options_.starting_every : options_.running_every;
}

bool Prober::due(const Gpu& gpu, bool leading, Clock::time_point now) const {
  if (gpu.url.empty()) return false;
  if (gpu.source == Source::local ? gpu.host != options_.host : !leading) return false;
  // While an operation of the provider is under way, the old worker may answer.
  const bool starts = gpu.state == State::starting && gpu.intent.operation == Operation::none;
  if (!starts && !may_return(gpu) && !gpu.serving()) return false;
  const ProbeRecords::Record* const record = records_.find(gpu.id);
  if (record == nullptr) return true;
  return !record->under_way && now - record->counted_from >= period(gpu, *record);
}

// A local worker ends when nobody has spoken to it for a minute (server/worker/idle_shutdown.h). One that is paused is asked for that
// alone: its answer proves nothing.
bool Prober::due_for_contact(const Gpu& gpu, Clock::time_point now) const {
  const bool ours = gpu.source == Source::local && gpu.host == options_.host && !gpu.url.empty();
  if (!ours || gpu.state != State::paused) return false;
  const ProbeRecords::Record* const record = records_.find(gpu.id);
  return record == nullptr ||
         (!record->under_way && now - record->counted_from >= options_.paused_every);
}

void Prober::step(bool leading) {
  const PoolView& view = rows_.current();
  if (leading) watch(view, false);
  std::vector<const Gpu*> asked, spoken_to;
  {
    const std::lock_guard lock(mutex_);
    const Clock::time_point now = Clock::now();
    for (const Gpu& gpu : view.gpus) {
      if (due_for_contact(gpu, now)) {
        records_.begin(gpu.id, now, {});
        spoken_to.push_back(&gpu);
      }
      if (!due(gpu, leading, now)) continue;
      records_.begin(gpu.id, now, gpu.serving() ? options_.running_every : Duration{});
      asked.push_back(&gpu);
    }
    records_.keep(view.gpus);
  }
  for (const Gpu* gpu : asked) ask(*gpu);
  for (const Gpu* gpu : spoken_to) speak_to(*gpu);
}

void Prober::speak_to(const Gpu& gpu) {
  try {
    client_.send(health_request(gpu.url, options_.tokens.of(gpu), options_.timeout),
                 [this, id = gpu.id](const HttpResult&) { ended(id); });
  } catch (const Error&) {
    ended(gpu.id);
  }
}

void Prober::ask(const Gpu& gpu) {
  try {
    client_.send(health_request(gpu.url, options_.tokens.of(gpu), options_.timeout),
                 [this, gpu](const HttpResult& result) { answered(gpu, judged(gpu, result)); });
  } catch (const Error& error) {
    answered(gpu, {.why = error.message(), .unusable = error.code() == Code::invalid});
  }
}

Prober::Verdict Prober::judged(const Gpu& gpu, const HttpResult& result) {
  const WorkerAnswer answer = health_answer(gpu.url, result);
  if (const auto* fault = std::get_if<WorkerFault>(&answer)) {
    return {.why = fault->message + advice(gpu, *fault),
            .asked = fault->kind != WorkerFault::Kind::shortage,
            .refuses = fault->kind == WorkerFault::Kind::denied ||
                       fault->kind == WorkerFault::Kind::protocol};
  }
  const auto& health = std::get<WorkerHealth>(answer);
  return {.why = why_unready(health, gpu.source == Source::cloud).value_or(""),
          .loads = health.state == "starting",
          .slots = health.slots,
          .instance = health.instance,
          .reading = reading_of(health)};
}

void Prober::not_asked(const GpuId& id, const std::string& why) {
  shortages_.failed("prober", why);
  ended(id);
}

void Prober::answered(const Gpu& gpu, Verdict verdict) {
  if (!verdict.asked) return not_asked(gpu.id, verdict.why);
  shortages_.well("prober");
  const std::lock_guard lock(mutex_);
  const bool good = verdict.why.empty();
  const ProbeRecords::Record record =
      good ? records_.note_good(gpu.id, verdict.instance, verdict.slots, Clock::now())
           : records_.note_bad(gpu.id);
  results_.push_back({gpu, std::move(verdict), good ? record.good : record.bad});
  arrived_.notify_one();
}

void Prober::ask_for_upgrade(const Gpu& gpu) {
  Handshake handshake = handshake_with(gpu.url, options_.tokens.of(gpu), options_.timeout);
  client_.send(handshake.request, [this, gpu, handshake](const HttpResult& result) {
    upgrade_answered(gpu, handshake_fault(handshake, result));
  });
}

void Prober::upgrade_answered(const Gpu& gpu, const std::optional<WorkerFault>& fault) {
  if (fault && fault->kind == WorkerFault::Kind::shortage) {
    return not_asked(gpu.id, fault->message);
  }
  const std::lock_guard lock(mutex_);
  const std::string why = fault ? "no WebSocket reaches it: " + fault->message : "";
  results_.push_back({.gpu = gpu, .verdict = {.why = why}, .in_row = 1, .upgraded = !fault});
  arrived_.notify_one();
}

void Prober::ended(const GpuId& id) {
  const std::lock_guard lock(mutex_);
  records_.end(id);
  if (records_.under_way() == 0) idle_.notify_all();
}

// A probe under way says nothing about a worker that has not answered for so long: it may be under way
// at each tick. One that has just answered well may be about to return.
bool Prober::has_asked(const Gpu& gpu) const {
  if (gpu.url.empty() || (gpu.source == Source::local && gpu.host != options_.host)) return true;
  const std::lock_guard lock(mutex_);
  const ProbeRecords::Record* const record = records_.find(gpu.id);
  if (record == nullptr || record->answers < k_silent_misses) return false;
  const bool returns = record->under_way && record->good > 0;
  return !returns && Clock::now() - record->asked <= ProbeRecords::k_row_ends;
}

bool Prober::wait_idle(Duration at_most, const std::stop_token& stop) {
  std::unique_lock lock(mutex_);
  return idle_.wait_for(lock, stop, at_most, [this] { return records_.under_way() == 0; });
}

}  // namespace navtalk
