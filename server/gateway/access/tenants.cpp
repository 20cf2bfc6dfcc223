#include "server/gateway/access/tenants.h"

#include <cmath>

namespace navtalk::server {
namespace {

// What may come at once, as seconds of the rate: sound comes in bursts.
constexpr double k_burst_s = 4;

}  // namespace

TenantLimits Tenants::limits_of(const TenantId& tenant) const {
  const auto found = table_.find(tenant);
  return found == table_.end() ? TenantLimits{} : found->second;
}

void Tenants::bound_messages(TenantSeat::Use& use, const TenantLimits& limits) {
  use.messages.reset();
  if (limits.max_messages_per_s <= 0) return;
  const double burst = std::max(1.0, std::ceil(k_burst_s * limits.max_messages_per_s));
  use.messages.emplace(TokenBucket::Rate{.burst = static_cast<std::size_t>(burst),
                                         .per_second = limits.max_messages_per_s},
                       TokenBucket::Clock::now());
}

void Tenants::replace(TenantTable table) {
  table_ = std::move(table);
  for (const auto& [tenant, weak] : uses_) {
    if (const auto use = weak.lock()) bound_messages(*use, limits_of(tenant));
  }
}

std::shared_ptr<TenantSeat::Use> Tenants::use_of(const TenantId& tenant) {
  std::erase_if(uses_, [](const auto& entry) { return entry.second.expired(); });
  std::shared_ptr<TenantSeat::Use> use = uses_[tenant].lock();
  if (!use) {
    use = std::make_shared<TenantSeat::Use>();
    bound_messages(*use, limits_of(tenant));
    uses_[tenant] = use;
  }
  return use;
}

std::shared_ptr<TenantSeat> Tenants::take_seat(const TenantId& tenant) {
  const int most = limits_of(tenant).max_connections;
  std::shared_ptr<TenantSeat::Use> use = use_of(tenant);
  if (most > 0 && use->connections >= most) return nullptr;
  return std::make_shared<TenantSeat>(std::move(use));
}

std::shared_ptr<TenantSeat> Tenants::take_surplus_seat(const TenantId& tenant) {
  std::shared_ptr<TenantSeat::Use> use = use_of(tenant);
  if (use->surplus >= limits_of(tenant).max_connections) return nullptr;
  return std::make_shared<TenantSeat>(std::move(use), true);
}

}  // namespace navtalk::server
