#include "scheduler/provision/hosts.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>

#include "core/process/identity.h"
#include "scheduler/pool/settings.h"

namespace navtalk {
namespace {

using nlohmann::json;

std::optional<std::vector<Host>> parse_hosts(std::string_view text) {
  std::vector<Host> hosts;
  const json list = json::parse(text, nullptr, false);
  if (!list.is_array()) return std::nullopt;
  for (const json& entry : list) {
    try {
      hosts.push_back({.name = entry.at("name"),
                       .devices = entry.at("devices"),
                       .slots_per_device = entry.at("slots_per_device"),
                       .owner = entry.value("owner", ""),
                       .until = TimePoint(Duration(entry.at("until_us").get<std::int64_t>()))});
    } catch (const json::exception&) {
      continue;  // another version's entry is not ours to use
    }
  }
  return hosts;
}

std::string as_text(const std::vector<Host>& hosts) {
  json list = json::array();
  for (const Host& host : hosts) {
    list.push_back({{"name", host.name},
                    {"devices", host.devices},
                    {"slots_per_device", host.slots_per_device},
                    {"owner", host.owner},
                    {"until_us", host.until.time_since_epoch().count()}});
  }
  return list.dump();
}

constexpr Setting<std::vector<Host>> k_hosts{setting_name::k_hosts, as_text, parse_hosts};

bool same_process(const Host& a, const Host& b) { return a.name == b.name && a.owner == b.owner; }

void drop_dead(std::vector<Host>& hosts, TimePoint now) {
  std::erase_if(hosts, [&](const Host& host) { return host.until <= now || is_dead(host.owner); });
}

}  // namespace

std::vector<Host> live_hosts(PoolStore& store) {
  std::vector<Host> hosts = k_hosts.read(store).value_or(std::vector<Host>{});
  drop_dead(hosts, store.now());
  return hosts;
}

void register_host(PoolStore& store, Host host, Duration alive) {
  const TimePoint now = store.now();
  host.until = now + alive;
  k_hosts.update(store, [&](std::vector<Host>& hosts) {
    const auto own = std::find_if(hosts.begin(), hosts.end(),
                                  [&](const Host& other) { return same_process(host, other); });
    if (own == hosts.end())
      hosts.push_back(host);
    else
      *own = host;
    drop_dead(hosts, now);
  });
}

void unregister_host(PoolStore& store, const Host& host) {
  k_hosts.update(store, [&](std::vector<Host>& hosts) {
    std::erase_if(hosts, [&](const Host& other) { return same_process(host, other); });
  });
}

std::vector<FreeDevice> free_devices(const std::vector<Host>& hosts, const std::vector<Gpu>& gpus) {
  std::set<std::pair<std::string, std::string>> taken;
  for (const Gpu& gpu : gpus) {
    if (gpu.source == Source::local) taken.emplace(gpu.host, gpu.device);
  }
  std::vector<FreeDevice> devices;
  for (const Host& host : hosts) {
    for (const std::string& device : host.devices) {
      if (taken.emplace(host.name, device).second) {
        devices.push_back({host.name, device, host.slots_per_device});
      }
    }
  }
  return devices;
}

}  // namespace navtalk
