#include "scheduler/provision/hosts.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>

#include "core/base/error.h"
#include "core/process/identity.h"

namespace navtalk {
namespace {

using nlohmann::json;
constexpr std::string_view k_setting = "hosts";
constexpr int k_tries = 50;

std::vector<Host> parse(const std::optional<std::string>& text) {
  std::vector<Host> hosts;
  const json list = text ? json::parse(*text, nullptr, false) : json::array();
  if (!list.is_array()) return hosts;
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

// Reads, changes, and writes if nobody else wrote in between.
template <class Change>
void update(PoolStore& store, const Change& change) {
  for (int i = 0; i < k_tries; ++i) {
    const std::optional<std::string> before = store.setting(k_setting);
    std::vector<Host> hosts = parse(before);
    change(hosts);
    if (store.swap_setting(k_setting, before, as_text(hosts))) return;
  }
  throw Error(Code::failed, "the list of hosts in the store is changed all the time by others");
}

bool same_process(const Host& a, const Host& b) { return a.name == b.name && a.owner == b.owner; }

void drop_dead(std::vector<Host>& hosts, TimePoint now) {
  std::erase_if(hosts,
                [&](const Host& host) { return host.until <= now || surely_dead(host.owner); });
}

}  // namespace

std::vector<Host> live_hosts(PoolStore& store) {
  std::vector<Host> hosts = parse(store.setting(k_setting));
  drop_dead(hosts, store.now());
  return hosts;
}

void sign_in(PoolStore& store, Host host, Duration alive) {
  const TimePoint now = store.now();
  host.until = now + alive;
  update(store, [&](std::vector<Host>& hosts) {
    const auto own = std::find_if(hosts.begin(), hosts.end(),
                                  [&](const Host& other) { return same_process(host, other); });
    if (own == hosts.end())
      hosts.push_back(host);
    else
      *own = host;
    drop_dead(hosts, now);
  });
}

void sign_out(PoolStore& store, const Host& host) {
  update(store, [&](std::vector<Host>& hosts) {
    std::erase_if(hosts, [&](const Host& other) { return same_process(host, other); });
  });
}

std::vector<LocalPlace> free_places(const std::vector<Host>& hosts, const std::vector<Gpu>& gpus) {
  std::set<std::pair<std::string, std::string>> taken;
  for (const Gpu& gpu : gpus) {
    if (gpu.source == Source::local) taken.emplace(gpu.host, gpu.device);
  }
  std::vector<LocalPlace> places;
  for (const Host& host : hosts) {
    for (const std::string& device : host.devices) {
      if (taken.emplace(host.name, device).second) {
        places.push_back({host.name, device, host.slots_per_device});
      }
    }
  }
  return places;
}

}  // namespace navtalk
