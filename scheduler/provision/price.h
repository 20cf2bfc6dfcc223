// What an instance costs, and from when, as its row and the ledger are to know it.
#pragma once

#include <optional>

#include "scheduler/pool/pool_store.h"
#include "scheduler/provision/provider.h"

namespace navtalk {

// Where the provider says it: a pod that does not run is shown without a price.
std::optional<double> known_price(const Instance& instance);
// From when an instance found for a row is paid for, at the earliest. `asked_at`: before the provider
// was asked for it.
TimePoint paid_from(const Instance& found, const Gpu& row, TimePoint asked_at);
// From when the ledger lacks the costs of a row that exists and has no price: the end of its last
// span, if it was taken for gone. nullopt when the row has a price.
std::optional<TimePoint> unpaid_since(PoolStore& store, const Gpu& row);

// The beginning of the row's open span: its instance is not older, unless its price changed since.
std::optional<TimePoint> open_span_since(PoolStore& store, const Gpu& row);

}  // namespace navtalk
