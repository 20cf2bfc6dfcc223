#include "scheduler/pool/session_faults.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>

#include "core/text/lenient_json.h"

namespace navtalk {
namespace {

using nlohmann::json;

constexpr std::size_t k_most = 300;
constexpr int k_kinds = 3;

// The times of one GPU's faults, as occasions.
class Occasions {
 public:
  explicit Occasions(Duration same) : same_(same) {}
  void note(TimePoint at) {
    if (count_ == 0) first_ = at;
    last_ = at;
    if (count_ > 0 && at - began_ < same_) return;
    began_ = at;
    ++count_;
  }
  int count() const { return count_; }
  Duration span() const { return last_ - first_; }

 private:
  Duration same_;
  int count_ = 0;
  TimePoint first_{}, last_{}, began_{};  // began_: of the last occasion
};

std::size_t gpus_of(const std::vector<SessionFault>& faults, const std::string& client,
                    TimePoint since) {
  std::set<GpuId> gpus;
  for (const SessionFault& fault : faults) {
    if (fault.client == client && !fault.client_well && fault.at >= since) gpus.insert(fault.gpu);
  }
  return gpus.size();
}

std::optional<SessionFault> parse_fault(const json& object) {
  const long long kind = whole_field(object, "kind").value_or(-1);
  if (kind < 0 || kind >= k_kinds) return std::nullopt;
  return SessionFault{.gpu = {text_field(object, "gpu").value_or("")},
                      .client = text_field(object, "client").value_or(""),
                      .kind = static_cast<SessionFault::Kind>(kind),
                      .at = TimePoint(Duration(whole_field(object, "at_us").value_or(0))),
                      .client_well = bool_field(object, "client_well").value_or(false)};
}

}  // namespace

void SessionFaults::add(SessionFault fault) {
  faults_.push_back(std::move(fault));
  if (faults_.size() > k_most) faults_.erase(faults_.begin());
}

void SessionFaults::lasted(const GpuId& gpu, const std::string& client) {
  std::erase_if(faults_, [&](const SessionFault& fault) { return fault.gpu == gpu; });
  for (SessionFault& fault : faults_) {
    if (fault.client == client) fault.client_well = true;
  }
}

void SessionFaults::forget(TimePoint before) {
  std::erase_if(faults_, [&](const SessionFault& fault) { return fault.at < before; });
}

bool SessionFaults::concerns(const GpuId& gpu, const std::string& client) const {
  return std::any_of(faults_.begin(), faults_.end(), [&](const SessionFault& fault) {
    return fault.gpu == gpu || (fault.client == client && !fault.client_well);
  });
}

bool SessionFaults::counts(const SessionFault& fault, const GpuId& gpu, TimePoint now,
                           const FaultRules& rules) const {
  if (fault.gpu != gpu || now - fault.at > rules.window) return false;
  if (fault.kind == SessionFault::Kind::declined || fault.client_well) return true;
  return gpus_of(faults_, fault.client, now - rules.window) <
         static_cast<std::size_t>(rules.spread);
}

bool SessionFaults::blame(const GpuId& gpu, TimePoint now, const FaultRules& rules) const {
  Occasions all(rules.same_occasion), declined(rules.same_occasion);
  std::set<std::string> clients;
  for (const SessionFault& fault : faults_) {
    if (!counts(fault, gpu, now, rules)) continue;
    all.note(fault.at);
    if (fault.kind == SessionFault::Kind::declined) declined.note(fault.at);
    clients.insert(fault.client);
  }
  if (declined.count() >= rules.occasions) return true;
  if (all.count() >= rules.occasions && clients.size() >= static_cast<std::size_t>(rules.clients))
    return true;
  return all.count() >= rules.alone_occasions && all.span() >= rules.alone_span;
}

std::string as_text(const SessionFaults& faults) {
  json list = json::array();
  for (const SessionFault& fault : faults.all()) {
    list.push_back({{"gpu", fault.gpu.text},
                    {"client", fault.client},
                    {"kind", static_cast<int>(fault.kind)},
                    {"at_us", fault.at.time_since_epoch().count()},
                    {"client_well", fault.client_well}});
  }
  return list.dump();
}

std::optional<SessionFaults> parse_session_faults(std::string_view text) {
  const std::optional<json> list = parse_json(text);
  if (!list || !list->is_array()) return std::nullopt;
  std::vector<SessionFault> faults;
  for (const json& object : *list) {
    if (auto fault = parse_fault(object)) faults.push_back(std::move(*fault));
  }
  return SessionFaults(std::move(faults));
}

bool blamed_for_sessions(PoolStore& store, const GpuId& gpu, const FaultRules& rules) {
  const auto faults = k_session_faults.read(store);
  return faults && faults->blame(gpu, store.now(), rules);
}

}  // namespace navtalk
