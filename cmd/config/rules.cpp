#include "cmd/config/rules.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "core/base/error.h"
#include "core/config/keys.h"
#include "core/text/printable.h"
#include "gpu/device/device.h"
#include "runpod/candidates.h"

namespace navtalk::cmd {
namespace {

std::string origin_of(const ConfigReading& reading, const std::string& key) {
  const std::vector<ConfigKey>& keys = config_keys();
  for (std::size_t i = 0; i < keys.size(); ++i) {
    if (keys[i].full_name() == key) return printable(reading.origins.at(i));
  }
  return "?";
}

// "pool.cloud (navtalk.toml:3)"
std::string where(const ConfigReading& reading, const std::string& key) {
  return key + " (" + origin_of(reading, key) + ")";
}

void look_at_cloud(const ConfigReading& reading, std::vector<std::string>& found) {
  const std::string& cloud = reading.config.pool.cloud;
  const auto& pods = reading.config.runpod;
  if (cloud != "off" && (pods.image.empty() || pods.gpu_types.empty())) {
    found.push_back(fmt::format("{} = \"{}\" makes no pod without {}: set it, or the cloud off",
                                where(reading, "pool.cloud"), cloud,
                                pods.image.empty() ? "runpod.image" : "runpod.gpu_types"));
  }
  const auto look_at_type = [&](const char* key, const std::string& type) {
    if (std::find(pods.gpu_types.begin(), pods.gpu_types.end(), type) != pods.gpu_types.end())
      return;
    found.push_back(fmt::format("{} names '{}', which runpod.gpu_types lacks", where(reading, key),
                                printable(type)));
  };
  for (const std::string& type : pods.allow_unknown_price) {
    look_at_type("runpod.allow_unknown_price", type);
  }
  for (const std::string& text : pods.max_usd_per_type) {
    try {
      look_at_type("runpod.max_usd_per_type", runpod::parse_price_limit(text).first);
    } catch (const Error& error) {
      found.push_back(where(reading, "runpod.max_usd_per_type") + ": " + error.message());
    }
  }
  if (!pods.volume.empty() && pods.data_centers.size() != 1) {
    found.push_back(fmt::format(
        "{} is in one data centre, so no pod elsewhere can mount it: name that one alone in {}",
        where(reading, "runpod.volume"), where(reading, "runpod.data_centers")));
  }
  if (pods.proxy_url.find("{pod}") == std::string::npos) {
    found.push_back(
        fmt::format("{} = '{}' lacks {{pod}}, and would lead to one address for all pods",
                    where(reading, "runpod.proxy_url"), printable(pods.proxy_url)));
  }
}

void look_at_numbers(const ConfigReading& reading, std::vector<std::string>& found) {
  const auto& pool = reading.config.pool;
  const bool ceiling =
      pool.policy == "static" || origin_of(reading, "pool.free_running_gpu") != "default";
  if (!ceiling || pool.min_running_gpu <= pool.free_running_gpu) return;
  found.push_back(
      fmt::format("{} = {} keeps more slots free than {} = {} lets stay: raise that one",
                  where(reading, "pool.min_running_gpu"), pool.min_running_gpu,
                  where(reading, "pool.free_running_gpu"), pool.free_running_gpu));
}

void look_at_devices(const ConfigReading& reading, std::vector<std::string>& found) {
  const std::vector<std::string>& devices = reading.config.local.devices;
  if (devices == std::vector<std::string>{"none"}) return;
  const std::string here = where(reading, "local.devices");
  std::set<std::string> seen;
  for (const std::string& device : devices) {
    if (!seen.insert(device).second) {
      found.push_back(
          fmt::format("{} names '{}' twice: one worker runs on a device, for more users "
                      "raise local.slots_per_device",
                      here, printable(device)));
      continue;
    }
    try {
      if (!parse_device(device))
        throw Error(Code::usage,
                    "device 'auto' is for a worker that is started by hand: name the devices");
    } catch (const Error& error) {
      found.push_back(here + ": " + error.message());
    }
  }
}

}  // namespace

std::vector<std::string> contradictions(const ConfigReading& reading) {
  std::vector<std::string> found;
  look_at_cloud(reading, found);
  look_at_numbers(reading, found);
  look_at_devices(reading, found);
  return found;
}

std::vector<std::string> side_effects(const ConfigReading& reading) {
  const auto& pool = reading.config.pool;
  const bool set = origin_of(reading, "pool.free_running_gpu") != "default";
  if (pool.policy != "adaptive" || !set) return {};
  return {
      fmt::format("{} = {} limits the adaptive policy: at most that many slots are free, "
                  "whatever is forecast; remove the key if that is not meant",
                  where(reading, "pool.free_running_gpu"), pool.free_running_gpu)};
}

}  // namespace navtalk::cmd
