#include "scheduler/pool/faults/session_faults.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "core/text/lenient_json.h"

namespace navtalk {
namespace {

using nlohmann::json;

constexpr std::size_t k_most = 600, k_most_of_gpu = 48;
constexpr int k_kinds = 3;
// The last session that lasted on a GPU is noted this often at most: every note is a write.
constexpr Duration k_note_every = std::chrono::seconds(10);

TimePoint time_field(const json& object, const char* name) {
  return TimePoint(Duration(whole_field(object, name).value_or(0)));
}

std::int64_t as_us(TimePoint at) { return at.time_since_epoch().count(); }

std::optional<SessionFault> parse_fault(const json& object) {
  const long long kind = whole_field(object, "kind").value_or(-1);
  if (kind < 0 || kind >= k_kinds) return std::nullopt;
  return SessionFault{
      .gpu = {text_field(object, "gpu").value_or("")},
      .origin = parse_origin(text_field(object, "source").value_or("")).value_or(Origin::runpod),
      .client = text_field(object, "client").value_or(""),
      .kind = static_cast<SessionFault::Kind>(kind),
      .at = time_field(object, "at_us"),
      .client_well = bool_field(object, "client_well").value_or(false),
      .age = Duration(whole_field(object, "age_us").value_or(0)),
      .early_age = Duration(whole_field(object, "early_age_us").value_or(0))};
}

std::optional<LastedSession> parse_lasted(const json& object) {
  const auto origin = parse_origin(text_field(object, "source").value_or(""));
  if (!origin || !whole_field(object, "began_us")) return std::nullopt;
  return LastedSession{.gpu = {text_field(object, "gpu").value_or("")},
                       .origin = *origin,
                       .began = time_field(object, "began_us"),
                       .until = time_field(object, "until_us")};
}

}  // namespace

void SessionFaults::add(SessionFault fault) {
  const GpuId gpu = fault.gpu;
  faults_.push_back(std::move(fault));
  const auto of_gpu = std::count_if(faults_.begin(), faults_.end(),
                                    [&](const SessionFault& known) { return known.gpu == gpu; });
  if (static_cast<std::size_t>(of_gpu) > k_most_of_gpu) drop_the_densest(gpu);
  if (faults_.size() > k_most) faults_.erase(faults_.begin());
}

// The one that came soonest after the GPU's fault before it; never the first or the last.
void SessionFaults::drop_the_densest(const GpuId& gpu) {
  std::size_t densest = faults_.size(), before = faults_.size();
  Duration shortest = Duration::max();
  for (std::size_t i = 0; i + 1 < faults_.size(); ++i) {
    if (faults_[i].gpu != gpu) continue;
    if (before < faults_.size() && faults_[i].at - faults_[before].at < shortest) {
      shortest = faults_[i].at - faults_[before].at;
      densest = i;
    }
    before = i;
  }
  if (densest < faults_.size()) {
    faults_.erase(faults_.begin() + static_cast<std::ptrdiff_t>(densest));
  }
}

void SessionFaults::note_lasted(const LastedSession& session, const std::string& client, bool cut) {
  const auto outlived = [&](const SessionFault& fault) {
    return fault.age == Duration{} || (!cut && fault.age < session.length());
  };
  std::erase_if(faults_, [&](const SessionFault& fault) {
    return fault.gpu == session.gpu && outlived(fault);
  });
  for (SessionFault& fault : faults_) {
    if (fault.client == client && outlived(fault)) fault.client_well = true;
  }
  if (cut || faults_.empty()) return;
  std::erase_if(lasted_, [&](const LastedSession& known) { return known.gpu == session.gpu; });
  lasted_.push_back(session);
}

void SessionFaults::forget(TimePoint before) {
  std::erase_if(faults_, [&](const SessionFault& fault) { return fault.at < before; });
  std::erase_if(lasted_, [&](const LastedSession& session) { return session.until < before; });
}

bool SessionFaults::concerns(const LastedSession& session, const std::string& client) const {
  const auto known = std::find_if(lasted_.begin(), lasted_.end(), [&](const LastedSession& other) {
    return other.gpu == session.gpu;
  });
  const bool fresh = known != lasted_.end() && session.until - known->until < k_note_every;
  return std::any_of(faults_.begin(), faults_.end(), [&](const SessionFault& fault) {
    return fault.gpu == session.gpu || (fault.client == client && !fault.client_well) ||
           (fault.origin == session.origin && !fresh);
  });
}

std::string as_text(const SessionFaults& faults) {
  json list = json::array();
  for (const SessionFault& fault : faults.all()) {
    list.push_back({{"gpu", fault.gpu.text},
                    {"source", name(fault.origin)},
                    {"client", fault.client},
                    {"kind", static_cast<int>(fault.kind)},
                    {"at_us", as_us(fault.at)},
                    {"client_well", fault.client_well},
                    {"age_us", fault.age.count()},
                    {"early_age_us", fault.early_age.count()}});
  }
  for (const LastedSession& session : faults.lasted()) {
    list.push_back({{"gpu", session.gpu.text},
                    {"source", name(session.origin)},
                    {"began_us", as_us(session.began)},
                    {"until_us", as_us(session.until)}});
  }
  return list.dump();
}

std::optional<SessionFaults> parse_session_faults(std::string_view text) {
  const std::optional<json> list = parse_json(text);
  if (!list || !list->is_array()) return std::nullopt;
  std::vector<SessionFault> faults;
  std::vector<LastedSession> lasted;
  for (const json& object : *list) {
    if (auto fault = parse_fault(object)) {
      faults.push_back(std::move(*fault));
    } else if (auto session = parse_lasted(object)) {
      lasted.push_back(std::move(*session));
    }
  }
  return SessionFaults(std::move(faults), std::move(lasted));
}

}  // namespace navtalk
