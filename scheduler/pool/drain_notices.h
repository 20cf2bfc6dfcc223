// By when the sessions of GPUs that an operator drains have to end. A row's `draining` alone ends no
// session: the scaler and the cap on spending drain GPUs too, and wait for their sessions. Plain values.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "scheduler/pool/settings.h"

namespace navtalk {

struct DrainNotice {
  GpuId gpu{};
  TimePoint ends_at{};  // by the store's clock

  friend bool operator==(const DrainNotice&, const DrainNotice&) = default;
};
using DrainNotices = std::vector<DrainNotice>;

std::string as_text(const DrainNotices& notices);
std::optional<DrainNotices> parse_drain_notices(std::string_view text);

inline constexpr Setting<DrainNotices> k_drain_notices{setting_name::k_drain_notices, as_text,
                                                       parse_drain_notices};

// In place of the GPU's last notice.
void give_drain_notice(PoolStore& store, const DrainNotice& notice);
void withdraw_drain_notice(PoolStore& store, const GpuId& gpu);
bool has_drain_notice(PoolStore& store, const GpuId& gpu);

}  // namespace navtalk
