// Asks a provider by id for rows that its list lacks. Each id is a call of its own, so a pass asks for
// a few, and the next pass begins behind the row that this one asked for last. Stateless.
#pragma once

#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "scheduler/provision/provider.h"

namespace navtalk {

struct LookupLimits {
  // With a list and so many ids every 10 s, a reconciler stays below 60 calls a minute, the least
  // quota that a cloud documents.
  int ids = 8;
  // After so many ids without an answer no more are asked for: the provider is not well.
  int unanswered = 3;
};

struct LookedUp {
  const Gpu* row = nullptr;
  std::optional<Lookup> answer{};  // nullopt: not asked for in this pass
};

struct Lookups {
  std::vector<LookedUp> rows;
  // The name of the row asked for last, if others wait for their turn; else empty.
  std::string last{};
};

// `rows` by name, each with a provider's id; `after`: `last` of the pass before.
Lookups look_up(Provider& provider, std::vector<const Gpu*> rows, const std::string& after,
                const LookupLimits& limits, const std::stop_token& stop);

}  // namespace navtalk
