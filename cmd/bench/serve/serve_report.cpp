#include "cmd/bench/serve/serve_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <nlohmann/json.hpp>

#include "cmd/bench/report.h"
#include "cmd/terminal/table.h"

namespace navtalk::cmd {
namespace {

using Json = nlohmann::ordered_json;

struct Row {
  std::string name{};
  Distribution times{};  // milliseconds
};

// What all sessions come to: sums, and the worst one.
struct Sums {
  std::size_t served = 0;
  std::map<std::string, int> errors{};
  std::vector<std::string> problems{};
  PictureFigures pictures{};  // per_second and worst_second: of the session that has the fewest
  SoundFigures sound{};
  std::uint64_t altered = 0, shortened = 0, sound_bytes = 0;
  int rate_changes = 0;
  Sync sync{};  // of the session that is most apart
};

template <class Take>
std::vector<float> all_of(const std::vector<ClientResult>& results, Take take) {
  std::vector<float> all;
  for (const ClientResult& result : results) {
    const std::vector<float> some = take(result);
    all.insert(all.end(), some.begin(), some.end());
  }
  return all;
}

std::vector<float> value_in(const std::optional<double>& value) {
  return value ? std::vector<float>{static_cast<float>(*value)} : std::vector<float>{};
}

std::vector<float> of_interrupts(const ClientResult& result, double InterruptTimes::*time) {
  std::vector<float> all;
  for (const InterruptTimes& times : result.interrupts)
    all.push_back(static_cast<float>(times.*time));
  return all;
}

std::vector<Row> rows_of(const ServeResult& result) {
  std::vector<Row> rows;
  const auto add = [&](std::string name, const std::vector<float>& values) {
    if (!values.empty()) rows.push_back({std::move(name), distribution_of(values)});
  };
  const auto& live = result.sessions;
  if (!result.relay) {
    add("latency", all_of(live, [](const auto& r) { return latencies_ms(r.recording); }));
    add("first picture", all_of(live, [](const auto& r) { return value_in(r.first_picture_ms); }));
    add("session ready", all_of(live, [](const auto& r) { return value_in(r.ready_ms); }));
  }
  add("interrupt, silent",
      all_of(live, [](const auto& r) { return of_interrupts(r, &InterruptTimes::silence_ms); }));
  add("interrupt, still",
      all_of(live, [](const auto& r) { return of_interrupts(r, &InterruptTimes::still_ms); }));
  add("connect, first picture",
      all_of(result.connects, [](const auto& r) { return value_in(r.first_picture_ms); }));
  if (result.relay) {
    rows.push_back({"gateway to client", result.relay->to_client});
    rows.push_back({"gateway to worker", result.relay->to_worker});
    rows.push_back({"direct to client", result.relay->direct_to_client});
    rows.push_back({"direct to worker", result.relay->direct_to_worker});
  }
  return rows;
}

void add_pictures(PictureFigures& sum, const PictureFigures& more) {
  const bool first = sum.count == 0;
  sum.count += more.count;
  sum.key += more.key;
  sum.bytes += more.bytes;
  sum.left_out += more.left_out;
  sum.per_second = first ? more.per_second : std::min(sum.per_second, more.per_second);
  sum.worst_second = first ? more.worst_second : std::min(sum.worst_second, more.worst_second);
  sum.longest_gap_ms = std::max(sum.longest_gap_ms, more.longest_gap_ms);
}

void add_sound(SoundFigures& sum, const SoundFigures& more) {
  sum.sent += more.sent;
  sum.returned += more.returned;
  sum.pauses += more.pauses;
  sum.paused_ms += more.paused_ms;
}

void add_endings(Sums& sums, const std::vector<ClientResult>& results) {
  for (const ClientResult& result : results) {
    for (const auto& [code, count] : result.errors) sums.errors[code] += count;
    if (!result.problem.empty()) sums.problems.push_back(result.problem);
  }
}

Sums sums_of(const ServeResult& result) {
  Sums sums;
  for (const ClientResult& one : result.sessions) {
    if (one.problem.empty()) ++sums.served;
    add_pictures(sums.pictures, picture_figures(one.recording));
    add_sound(sums.sound, sound_figures(one.recording));
    sums.altered += one.altered;
    sums.shortened += one.shortened;
    sums.sound_bytes += one.sound_bytes;
    sums.rate_changes += one.rate_changes;
    const Sync sync = sync_of(one.recording);
    if (sums.sync.windows == 0 || sync.most_ms > sums.sync.most_ms) sums.sync = sync;
  }
  add_endings(sums, result.sessions);
  add_endings(sums, result.connects);
  return sums;
}

// Of the worker's mean per picture in the mean latency.
double share_of(const Stage& stage, const std::vector<Row>& rows) {
  const auto latency = std::ranges::find(rows, "latency", &Row::name);
  return latency == rows.end() || latency->times.mean <= 0 ? 0
                                                           : stage.mean_ms / latency->times.mean;
}

Json use_json(const ProcessUse& use) {
  return {{"threads", use.threads},
          {"descriptors", use.descriptors},
          {"resident_bytes", use.resident_bytes},
          {"processor_s", use.processor_s}};
}

Json process_json(const WatchedProcess& process, std::size_t sessions) {
  Json object = {{"name", process.name}, {"in_pool", process.in_pool}, {"pid", process.pid}};
  for (std::size_t i = 0; i < k_moment_names.size(); ++i) {
    if (process.uses[i]) object[std::string(k_moment_names[i])] = use_json(*process.uses[i]);
  }
  const auto &before = process.use(Moment::before), &played = process.use(Moment::played);
  if (before && played && sessions > 0) {
    object["bytes_per_session"] = (static_cast<double>(played->resident_bytes) -
                                   static_cast<double>(before->resident_bytes)) /
                                  static_cast<double>(sessions);
  }
  return object;
}

double added_p99(const Distribution& through, const Distribution& direct) {
  return through.p99 - direct.p99;
}

double us_per_message(const RelayResult& relay) {
  return relay.messages == 0
             ? 0
             : relay.gateway_processor_s * 1e6 / static_cast<double>(relay.messages);
}

Json relay_json(const RelayResult& relay) {
  return {{"messages", relay.messages},
          {"seconds", relay.seconds},
          {"added_p99_ms_to_client", added_p99(relay.to_client, relay.direct_to_client)},
          {"added_p99_ms_to_worker", added_p99(relay.to_worker, relay.direct_to_worker)},
          {"gateway_us_per_message", us_per_message(relay)},
          {"gateway_processor_s", relay.gateway_processor_s},
          {"bench_processor_s", relay.bench_processor_s}};
}

Json pictures_json(const Sums& sums, const Metrics& worker) {
  const PictureFigures& pictures = sums.pictures;
  return {{"received", pictures.count},
          {"per_second", pictures.per_second},
          {"worst_second", pictures.worst_second},
          {"longest_gap_ms", pictures.longest_gap_ms},
          {"left_out", pictures.left_out},
          {"late", value_of(worker, "navtalk_worker_late_pictures_total")},
          {"dropped", value_of(worker, "navtalk_worker_dropped_pictures_total")},
          {"key", pictures.key},
          {"rate_changes", sums.rate_changes},
          {"bytes", pictures.bytes}};
}

Json sound_json(const Sums& sums) {
  return {{"sent_samples", sums.sound.sent}, {"returned_samples", sums.sound.returned},
          {"altered_samples", sums.altered}, {"shortened_samples", sums.shortened},
          {"pauses", sums.sound.pauses},     {"paused_ms", sums.sound.paused_ms},
          {"bytes", sums.sound_bytes}};
}

Json sync_json(const Sync& sync) {
  return {{"windows", sync.windows},
          {"first_ms", sync.first_ms},
          {"last_ms", sync.last_ms},
          {"most_ms", sync.most_ms},
          {"clock_ms", sync.clock_ms}};
}

std::string rows_text(const std::vector<Row>& rows, bool colour) {
  constexpr auto k_right = Column::Align::right;
  std::vector<std::vector<std::string>> cells;
  for (const auto& [name, times] : rows) {
    cells.push_back({name, fmt::format("{:.1f}", times.p50), fmt::format("{:.1f}", times.p95),
                     fmt::format("{:.1f}", times.p99), fmt::format("{:.1f}", times.max),
                     std::to_string(times.count)});
  }
  return table({{"measurement"},
                {"median ms", k_right},
                {"p95 ms", k_right},
                {"p99 ms", k_right},
                {"longest ms", k_right},
                {"count", k_right}},
               cells, colour);
}

std::string processes_text(const ServeResult& result, bool colour) {
  constexpr auto k_right = Column::Align::right;
  std::vector<std::vector<std::string>> cells;
  for (const WatchedProcess& process : result.processes) {
    for (std::size_t i = 0; i < k_moment_names.size(); ++i) {
      if (!process.uses[i]) continue;
      const ProcessUse& use = *process.uses[i];
      cells.push_back({process.name, std::string(k_moment_names[i]), std::to_string(use.threads),
                       std::to_string(use.descriptors),
                       fmt::format("{:.1f}", static_cast<double>(use.resident_bytes) / (1 << 20)),
                       fmt::format("{:.2f}", use.processor_s)});
    }
  }
  if (cells.empty()) return "";
  return "\n" + table({{"process"},
                       {"when"},
                       {"threads", k_right},
                       {"descriptors", k_right},
                       {"memory MiB", k_right},
                       {"processor s", k_right}},
                      cells, colour);
}

std::string sums_text(const Sums& sums, const ServeResult& result, const std::vector<Row>& rows) {
  const PictureFigures& pictures = sums.pictures;
  std::string text = fmt::format(
      "\npictures: {}; least session {:.2f} a second, its worst second {}; longest gap {:.0f} ms; "
      "{} left out, {:.0f} late, {:.0f} dropped, {} changes of rate; {:.2f} MB\n",
      pictures.count, pictures.per_second, pictures.worst_second, pictures.longest_gap_ms,
      pictures.left_out, value_of(result.worker_growth, "navtalk_worker_late_pictures_total"),
      value_of(result.worker_growth, "navtalk_worker_dropped_pictures_total"), sums.rate_changes,
      static_cast<double>(pictures.bytes) / 1e6);
  text += fmt::format(
      "sound: {} of {} samples came back, {} were left out for the clock, {} altered; {} pauses, "
      "{:.0f} ms\n",
      sums.sound.returned, sums.sound.sent, sums.shortened, sums.altered, sums.sound.pauses,
      sums.sound.paused_ms);
  if (sums.sync.windows > 0) {
    text += fmt::format(
        "sound behind pictures: {:+.1f} ms at first, {:+.1f} at last, {:.1f} at most; pictures "
        "behind "
        "their clock: {:+.1f} ms\n",
        sums.sync.first_ms, sums.sync.last_ms, sums.sync.most_ms, sums.sync.clock_ms);
  }
  for (const Stage& stage : stages_of(result.worker_growth)) {
    text += fmt::format("stage {}: {:.1f} ms on average, {:.0f} % of the latency\n", stage.name,
                        stage.mean_ms, share_of(stage, rows) * 100);
  }
  return text;
}

std::string relay_text(const RelayResult& relay) {
  return fmt::format(
      "\n{} messages in {:.1f} s: {:+.2f} ms at p99 to the client, {:+.2f} to the worker, {:.1f} "
      "us of "
      "the gateway's processor time each\n",
      relay.messages, relay.seconds, added_p99(relay.to_client, relay.direct_to_client),
      added_p99(relay.to_worker, relay.direct_to_worker), us_per_message(relay));
}

}  // namespace

bool is_sound(const ServeResult& result) {
  const auto served = [](const ClientResult& one) { return one.problem.empty(); };
  const auto whole = [&](const ClientResult& one) {
    const SoundFigures sound = sound_figures(one.recording);
    return served(one) && one.altered == 0 &&
           (result.relay || sound.returned + one.shortened == sound.sent);
  };
  return result.settled && std::ranges::all_of(result.sessions, whole) &&
         std::ranges::all_of(result.connects, served);
}

Json serve_json(const ServeResult& result, const BenchServeOptions& options) {
  const Sums sums = sums_of(result);
  const std::vector<Row> rows = rows_of(result);
  Json object = {{"machine", machine_json(this_machine())},
                 {"load", result.load},
                 {"gateway", {{"url", result.url}, {"own", options.url.empty()}}},
                 {"rows", Json::array()}};
  for (const auto& [name, times] : rows) {
    object["rows"].push_back({{"name", name},
                              {"unit", "ms"},
                              {"median", times.p50},
                              {"p95", times.p95},
                              {"p99", times.p99},
                              {"longest", times.max},
                              {"mean", times.mean},
                              {"count", times.count}});
  }
  object["sessions"] = {{"wanted", result.sessions.size()},   {"served", sums.served},
                        {"seconds", options.seconds},         {"message_ms", options.message_ms},
                        {"connects", result.connects.size()}, {"errors", sums.errors},
                        {"problems", sums.problems}};
  if (!result.relay) {
    object["pictures"] = pictures_json(sums, result.worker_growth);
    object["sound"] = sound_json(sums);
    object["sync"] = sync_json(sums.sync);
    object["stages"] = Json::array();
    for (const Stage& stage : stages_of(result.worker_growth)) {
      object["stages"].push_back({{"name", stage.name},
                                  {"mean_ms", stage.mean_ms},
                                  {"count", stage.count},
                                  {"share", share_of(stage, rows)}});
    }
  } else {
    object["relay"] = relay_json(*result.relay);
  }
  object["processes"] = Json::array();
  for (const WatchedProcess& process : result.processes)
    object["processes"].push_back(process_json(process, result.sessions.size()));
  object["settled"] = result.settled;
  return object;
}

std::string serve_text(const ServeResult& result, const BenchServeOptions& options, bool colour) {
  const Sums sums = sums_of(result);
  const std::vector<Row> rows = rows_of(result);
  std::string text = fmt::format(
      "{}, load {:.1f}\n{} of {} sessions of {:g} s were served by {}, {} ms a message\n\n",
      machine_text(this_machine()), result.load[0], sums.served, result.sessions.size(),
      options.seconds, result.url, options.message_ms);
  text += rows_text(rows, colour);
  text += result.relay ? relay_text(*result.relay) : sums_text(sums, result, rows);
  text += processes_text(result, colour);
  for (const auto& [code, count] : sums.errors) text += fmt::format("error {}: {}\n", code, count);
  for (const std::string& problem : sums.problems)
    text += fmt::format("a session failed: {}\n", problem);
  if (!result.relay && (sums.altered > 0 || sums.sound.returned + sums.shortened < sums.sound.sent))
    text += "Sound was LOST or altered: latencies are those of other sound.\n";
  if (!result.settled) text += "Threads or descriptors are MORE than before the sessions.\n";
  return text;
}

}  // namespace navtalk::cmd
