#include "scheduler/pool/faults/session_verdict.h"

#include <algorithm>
#include <map>
#include <set>

namespace navtalk {
namespace {

using Kind = SessionFault::Kind;

// The times of one GPU's faults, as occasions.
class Occasions {
 public:
  explicit Occasions(Duration same) : same_(same) {}
  void note(TimePoint at) {
    if (count_ == 0) first_ = at;
    last_ = at;
    if (count_ > 0 && at - began_ < same_) return;
    last_but_one_ = began_;
    began_ = at;
    ++count_;
  }
  int count() const { return count_; }
  TimePoint first() const { return first_; }
  TimePoint last_but_one() const { return last_but_one_; }
  Duration span() const { return last_ - first_; }

 private:
  Duration same_;
  int count_ = 0;
  TimePoint first_{}, last_{}, began_{}, last_but_one_{};  // began_: of the last occasion
};

std::size_t gpus_of(const SessionFaults& faults, const std::string& client, TimePoint since) {
  std::set<GpuId> gpus;
  for (const SessionFault& fault : faults.all()) {
    if (fault.client == client && !fault.client_well && fault.at >= since) gpus.insert(fault.gpu);
  }
  return gpus.size();
}

bool reached(std::size_t count, int needed) { return count >= static_cast<std::size_t>(needed); }

// Did a session on the GPU live through what happened at that time?
bool any_survived(const SessionFaults& faults, const GpuId& gpu, TimePoint at,
                  const std::vector<LastedSession>& living, const FaultRules& rules) {
  const TimePoint before = at - rules.same_occasion, after = at + rules.same_occasion;
  const auto survived = [&](const LastedSession& session) {
    return session.gpu == gpu && session.began < before && session.until > after;
  };
  return std::any_of(living.begin(), living.end(),
                     [&](const LastedSession& session) {
                       return session.gpu == gpu && session.began < before;
                     }) ||
         std::any_of(faults.lasted().begin(), faults.lasted().end(), survived) ||
         std::any_of(faults.all().begin(), faults.all().end(), [&](const SessionFault& fault) {
           return survived({.gpu = fault.gpu,
                            .began = fault.at - std::max(fault.age, fault.early_age),
                            .until = fault.at});
         });
}

// Was the whole path to the GPU cut?
bool of_the_path(const SessionFaults& faults, const SessionFault& fault,
                 const std::vector<LastedSession>& living, const FaultRules& rules) {
  if (fault.kind != Kind::cut || fault.origin == Origin::local) return false;
  std::set<std::string> clients;
  for (const SessionFault& other : faults.all()) {
    if (other.gpu == fault.gpu && other.kind == Kind::cut &&
        other.at > fault.at - rules.same_occasion && other.at < fault.at + rules.same_occasion) {
      clients.insert(other.client);
    }
  }
  return reached(clients.size(), rules.together) &&
         !any_survived(faults, fault.gpu, fault.at, living, rules);
}

// What one GPU's faults add up to, late cuts included up to that age.
class Series {
 public:
  Series(const SessionFaults& faults, const GpuId& gpu, const std::vector<LastedSession>& living,
         TimePoint now, const FaultRules& rules, Duration oldest = {})
      : rules_(rules) {
    for (const SessionFault& fault : faults.all()) {
      if (fault.gpu != gpu || fault.age > oldest || now - fault.at > rules.window) continue;
      const bool own = fault.kind == Kind::declined;
      if (!own && !fault.client_well &&
          reached(gpus_of(faults, fault.client, now - rules.window), rules.spread)) {
        continue;
      }
      every_.note(fault.at);
      all_clients_.insert(fault.client);
      if (of_the_path(faults, fault, living, rules)) continue;
      all_.note(fault.at);
      if (own) declined_.note(fault.at);
      clients_.insert(fault.client);
    }
  }
  bool refusals() const { return declined_.count() >= rules_.occasions; }
  bool complete() const { return refusals() || lasts() || several_clients() || long_lasting(); }
  // With those of the path: something is wrong.
  bool noticed() const { return complete() || several_clients_with_path(); }
  bool several_clients() const {
    return all_.count() >= rules_.occasions && reached(clients_.size(), rules_.clients);
  }
  // No network lies between a gateway and a local worker, and its only user may be one client.
  bool enough_alone(Origin origin) const {
    return refusals() || (origin == Origin::local && lasts()) || long_lasting();
  }
  // A path that is cut so often is of no more use than a worker.
  bool long_lasting() const {
    return several_clients_with_path() && every_.count() >= rules_.lone_occasions &&
           every_.span() >= rules_.lone_span && reached(all_clients_.size(), rules_.lone_clients);
  }

  bool lasts() const {
    return all_.count() >= rules_.few_occasions && all_.span() >= rules_.few_span;
  }

 private:
  bool several_clients_with_path() const {
    return every_.count() >= rules_.occasions && reached(all_clients_.size(), rules_.clients);
  }

  const FaultRules& rules_;
  Occasions every_{rules_.same_occasion};  // with those of the path
  Occasions all_{rules_.same_occasion}, declined_{rules_.same_occasion};
  std::set<std::string> all_clients_{}, clients_{};
};

struct Comparison {
  std::size_t breaking = 0, working = 0;
  std::size_t clients = 0;  // of the breaking GPUs

  bool most_break() const { return breaking >= 2 && breaking > working; }
  bool network(const FaultRules& rules) const {
    return most_break() && reached(clients, rules.clients);
  }
};

// The age that a session must have come to for it to prove that it outlived cuts of that age.
Duration beyond(Duration age, const FaultRules& rules) {
  if (age <= Duration{}) return {};
  const std::chrono::duration<double, Duration::period> share(rules.outlive_share *
                                                              static_cast<double>(age.count()));
  return age + std::max(rules.outlive_least, std::chrono::duration_cast<Duration>(share));
}

Duration median(std::vector<Duration> ages) {
  if (ages.empty()) return {};
  const auto middle = ages.begin() + static_cast<std::ptrdiff_t>(ages.size() / 2);
  std::nth_element(ages.begin(), middle, ages.end());
  return *middle;
}

// `outlived`: the age of late cuts, which count then, and which working sessions have outlived.
Comparison compare(const SessionFaults& faults, Origin origin,
                   const std::vector<LastedSession>& living, TimePoint now, const FaultRules& rules,
                   Duration outlived = {}) {
  const bool late = outlived > Duration{};
  std::map<GpuId, Occasions> occasions;
  for (const SessionFault& fault : faults.all()) {
    if (fault.origin != origin || now - fault.at > rules.window) continue;
    if (!late && fault.age > Duration{}) continue;
    occasions.try_emplace(fault.gpu, rules.same_occasion).first->second.note(fault.at);
  }
  std::erase_if(occasions,
                [&](const auto& of) { return of.second.count() < rules.alike_occasions; });
  Comparison found{.breaking = occasions.size()};
  if (occasions.empty()) return found;
  std::set<std::string> clients;
  std::vector<Duration> early;
  for (const SessionFault& fault : faults.all()) {
    if (!occasions.contains(fault.gpu)) continue;
    clients.insert(fault.client);
    if (fault.age == Duration{}) early.push_back(fault.early_age);
  }
  found.clients = clients.size();
  const Duration needed = beyond(late ? outlived : median(std::move(early)), rules);
  TimePoint first = TimePoint::max(), last_but_one{};
  for (const auto& [gpu, of] : occasions) {
    first = std::min(first, of.first());
    last_but_one = std::max(last_but_one, of.last_but_one());
  }
  std::set<GpuId> working;
  const auto look = [&](const LastedSession& session) {
    if (session.origin == origin && !occasions.contains(session.gpu) && session.began >= first &&
        session.until >= last_but_one && session.length() >= needed) {
      working.insert(session.gpu);
    }
  };
  std::for_each(faults.lasted().begin(), faults.lasted().end(), look);
  std::for_each(living.begin(), living.end(), look);
  found.working = working.size();
  return found;
}

// The ages of the GPU's late cuts, in order.
std::set<Duration> ages_of(const SessionFaults& faults, const GpuId& gpu) {
  std::set<Duration> ages;
  for (const SessionFault& fault : faults.all()) {
    if (fault.gpu == gpu && fault.age > Duration{}) ages.insert(fault.age);
  }
  return ages;
}

// The shortest series first: the fewer sessions elsewhere have outlived a series, the less it proves.
SessionVerdict judge_late(const SessionFaults& faults, const GpuId& gpu, Origin origin,
                          const std::vector<LastedSession>& living, TimePoint now,
                          const FaultRules& rules) {
  using enum SessionVerdict;
  const bool local = origin == Origin::local;
  for (const Duration age : ages_of(faults, gpu)) {
    const Series series(faults, gpu, living, now, rules, age);
    if (!series.several_clients() && !series.long_lasting() && !(local && series.lasts())) continue;
    if (std::any_of(living.begin(), living.end(), [&](const LastedSession& session) {
          return session.gpu == gpu && session.length() > age;
        })) {
      return none;
    }
    const Comparison compared = compare(faults, origin, living, now, rules, age);
    if (compared.network(rules)) return network;
    if (compared.most_break()) return none;
    if (compared.working > 0 || (local && series.lasts())) return worker_late;
  }
  return none;
}

SessionVerdict judge_early(const SessionFaults& faults, const GpuId& gpu, Origin origin,
                           const std::vector<LastedSession>& living, TimePoint now,
                           const FaultRules& rules) {
  const Series series(faults, gpu, living, now, rules);
  if (!series.noticed()) return SessionVerdict::none;
  const Comparison compared = compare(faults, origin, living, now, rules);
  if (compared.network(rules)) return SessionVerdict::network;
  if (compared.most_break() || !series.complete()) return SessionVerdict::none;
  return compared.working > 0 || series.enough_alone(origin) ? SessionVerdict::worker
                                                             : SessionVerdict::none;
}

}  // namespace

SessionVerdict judge_sessions(const SessionFaults& faults, const GpuId& gpu, Origin origin,
                              const std::vector<LastedSession>& living, TimePoint now,
                              const FaultRules& rules) {
  const SessionVerdict early = judge_early(faults, gpu, origin, living, now, rules);
  if (early != SessionVerdict::none) return early;
  return judge_late(faults, gpu, origin, living, now, rules);
}

bool sessions_break(const SessionFaults& faults, Origin origin,
                    const std::vector<LastedSession>& living, TimePoint now,
                    const FaultRules& rules) {
  if (compare(faults, origin, living, now, rules).network(rules)) return true;
  std::vector<Duration> late;
  for (const SessionFault& fault : faults.all()) {
    if (fault.origin == origin && fault.age > Duration{}) late.push_back(fault.age);
  }
  return !late.empty() &&
         compare(faults, origin, living, now, rules, median(std::move(late))).network(rules);
}

std::vector<LastedSession> living_sessions(PoolStore& store, const FaultRules& rules) {
  const TimePoint now = store.now();
  std::vector<LastedSession> living;
  for (const Lease& lease : store.leases()) {
    if (now - lease.claimed_at < rules.lasting) continue;
    living.push_back({lease.gpu, lease.origin, lease.claimed_at, now});
  }
  return living;
}

bool blamed_for_sessions(PoolStore& store, const Gpu& gpu, const FaultRules& rules) {
  const auto faults = k_session_faults.read(store);
  return faults && blames_worker(judge_sessions(*faults, gpu.id, origin_of(gpu),
                                                living_sessions(store, rules), store.now(), rules));
}

}  // namespace navtalk
