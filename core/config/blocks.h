// The blocks of the configuration, of which there may be several: [[tenant]], [[pool.schedule]],
// [[pool.maintenance]]. Their keys, what is wrong with a block as a whole, and how it is shown.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/config/config.h"
#include "core/config/value.h"

namespace navtalk {

struct BlockKey {
  std::string name;
  ConfigMember member;                 // in the block that the key was made for
  double least = 0, most = 0;          // numbers only, both allowed
  std::vector<std::string> choices{};  // of a text, or of each text of a list; empty: any text
  bool is_set = true;                  // has it a value of its own?
};

std::vector<BlockKey> block_keys(TenantConfig& tenant);
std::vector<BlockKey> block_keys(ScheduleConfig& schedule);
std::vector<BlockKey> block_keys(MaintenanceConfig& maintenance);

// "tenant", "pool.schedule", "pool.maintenance"
std::string block_title(const TenantConfig&);
std::string block_title(const ScheduleConfig&);
std::string block_title(const MaintenanceConfig&);

// What is wrong with the keys together; nullopt: nothing. The name is checked apart.
std::optional<std::string> block_fault(const TenantConfig& tenant);
std::optional<std::string> block_fault(const ScheduleConfig& schedule);
std::optional<std::string> block_fault(const MaintenanceConfig& maintenance);

// Calls show(title, keys) for each block, in the order of the file.
template <class Show>
void each_block(Config config, const Show& show) {
  const auto all = [&](auto& blocks) {
    for (auto& block : blocks) show(block_title(block), block_keys(block));
  };
  all(config.tenants);
  all(config.schedules);
  all(config.maintenance);
}

}  // namespace navtalk
