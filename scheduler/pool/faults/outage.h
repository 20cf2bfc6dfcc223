// Whether most GPUs of one provider stopped answering at once, which is taken for a fault of the network
// (scheduler/health/outage_rule.h decides). Plain values, kept in the store, so that every process
// sees them.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "scheduler/pool/origin.h"

namespace navtalk {

class PoolStore;

struct Outage {
  bool on = false;
  TimePoint since{};  // when it began or ended; zero: there never was one

  friend bool operator==(const Outage&, const Outage&) = default;
};

// Local workers listen on loopback: no network lies between, so they have no outage.
using Outages = ByOrigin<Outage>;
// Is one on at any of the clouds?
bool cloud_outage(const Outages& outages);

std::string as_text(const Outages& outages);
// nullopt for text of another form.
std::optional<Outages> parse_outages(std::string_view text);
Outages read_outages(PoolStore& store);
// False when the store does not hold `before` any more: another process was quicker.
bool replace_outages(PoolStore& store, const Outages& before, const Outages& after);

// Is it being created or woken at that source? In an outage one at a time is.
bool starts_at(const Gpu& gpu, Source source);

// Did it fail because its worker did not answer, and may the worker still be well? Registered workers
// may always. Others only while nothing else was asked of them, once they had been ready, and a pod
// while its price is known: what was found gone at its provider has none.
bool may_return(const Gpu& gpu);

}  // namespace navtalk
