#include "scheduler/provision/hosts.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>

#include "core/base/error.h"
#include "core/base/sleep.h"
#include "core/log/log.h"
#include "core/process/identity.h"
#include "core/text/printable.h"
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

// Has it that name on another machine or in another container? Where neither has devices there is no worker to mistake.
bool is_elsewhere(const Host& other, const Host& host) {
  return other.name == host.name && are_apart(other.owner, host.owner) &&
         !(other.devices.empty() && host.devices.empty());
}

// One that holds for longer than a record can was written before the clock was set back.
bool renewed_lately(const Host& host, TimePoint now) {
  return host.until > now + (k_host_record - k_host_silence) &&
         host.until <= now + k_host_record + k_host_renewal;
}

std::optional<Host> living_elsewhere(const std::vector<Host>& hosts, const Host& host,
                                     TimePoint now) {
  const auto found = std::find_if(hosts.begin(), hosts.end(), [&](const Host& other) {
    return is_elsewhere(other, host) && renewed_lately(other, now);
  });
  return found == hosts.end() ? std::nullopt : std::optional(*found);
}

}  // namespace

std::vector<Host> live_hosts(PoolStore& store) {
  std::vector<Host> hosts = k_hosts.read(store).value_or(std::vector<Host>{});
  drop_dead(hosts, store.now());
  return hosts;
}

std::optional<Host> register_host(PoolStore& store, Host host, Duration alive) {
  const TimePoint now = store.now();
  host.until = now + alive;
  std::optional<Host> elsewhere;
  k_hosts.update(store, [&](std::vector<Host>& hosts) {
    elsewhere = living_elsewhere(hosts, host, now);
    if (elsewhere) return;
    std::erase_if(hosts, [&](const Host& other) {
      return is_elsewhere(other, host);  // silent: it has ended
    });
    const auto own = std::find_if(hosts.begin(), hosts.end(),
                                  [&](const Host& other) { return same_process(host, other); });
    if (own == hosts.end())
      hosts.push_back(host);
    else
      *own = host;
    drop_dead(hosts, now);
  });
  return elsewhere;
}

bool claim_host_name(PoolStore& store, const Host& host, const std::stop_token& stop) {
  constexpr auto k_pause = std::chrono::milliseconds(500);
  std::optional<Host> first = register_host(store, host);
  if (!first) return true;
  log::warn("another machine or container has this one's host name; waits until it is silent",
            {{"host", host.name}, {"other", first->owner}});
  while (sleep_for(k_pause, stop)) {
    const std::optional<Host> other = register_host(store, host);
    if (!other) return true;
    if (other->owner != first->owner) {
      first = other;
    } else if (other->until > first->until) {
      throw Error(Code::invalid, host_name_taken_by(*other));
    }
  }
  return false;
}

std::string host_name_taken(PoolStore& store, const std::string& name, const std::string& owner) {
  const std::vector<Host> hosts = k_hosts.read(store).value_or(std::vector<Host>{});
  const auto own = std::find_if(hosts.begin(), hosts.end(), [&](const Host& host) {
    return host.name == name && host.owner == owner;
  });
  // Without a record of its own it may have workers.
  const Host host =
      own != hosts.end() ? *own : Host{.name = name, .devices = {"any"}, .owner = owner};
  const auto other = living_elsewhere(hosts, host, store.now());
  return other ? host_name_taken_by(*other) : "";
}

std::string host_name_taken_by(const Host& other) {
  return "another machine or container of this pool has the host name '" + printable(other.name) +
         "', too (process " + printable(other.owner) +
         "), and each would take the other's local workers for its own: give each its own name "
         "(hostnamectl, docker run --hostname), or run one gateway on each node";
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
