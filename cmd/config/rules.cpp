#include "cmd/config/rules.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <set>

#include "cmd/artifacts/model_store.h"
#include "core/artifacts/s3.h"
#include "core/base/error.h"
#include "core/config/keys.h"
#include "core/net/url.h"
#include "core/text/printable.h"
#include "core/text/suggest.h"
#include "gpu/device/device.h"
#include "kubernetes/api/manifest.h"
#include "runpod/candidates.h"
#include "scheduler/service/event_webhook.h"
#include "scheduler/service/pool_config.h"

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

void look_at_kubernetes(const ConfigReading& reading, std::vector<std::string>& found) {
  const Config& config = reading.config;
  const auto& pods = config.kubernetes;
  if (uses_runpod(config) && config.runpod.max_paused > 0) {
    found.push_back(
        fmt::format("{} = {} has no effect beside {}: pods of a cluster cannot be paused",
                    where(reading, "runpod.max_paused"), config.runpod.max_paused,
                    where(reading, "kubernetes.image")));
  }
  if (pods.certificate_file.empty() != pods.key_file.empty()) {
    found.push_back(fmt::format("{} and {} go together: set both or none",
                                where(reading, "kubernetes.certificate_file"),
                                where(reading, "kubernetes.key_file")));
  }
  if (pods.worker_url.starts_with("http:") && pods.worker_url.find("{ip}") != std::string::npos &&
      !config.pool.allow_http_workers) {
    found.push_back(fmt::format(
        "{} = '{}' shows workers' tokens to the cluster's network, which {} does not allow",
        where(reading, "kubernetes.worker_url"), printable(pods.worker_url),
        where(reading, "pool.allow_http_workers")));
  }
  const auto look_at = [&](const char* key, const std::vector<std::string>& texts, auto parse) {
    for (const std::string& text : texts) {
      try {
        parse(text);
      } catch (const Error& error) {
        found.push_back(where(reading, key) + ": " + error.message());
      }
    }
  };
  look_at("kubernetes.node_selector", pods.node_selector, kubernetes::parse_node_label);
  look_at("kubernetes.tolerations", pods.tolerations, kubernetes::parse_toleration);
  if (!pods.owner.empty())
    look_at("kubernetes.owner", std::vector<std::string>{pods.owner}, kubernetes::parse_owner);
  for (const auto& [key, file] : {std::pair("kubernetes.kubeconfig", &pods.kubeconfig),
                                  std::pair("kubernetes.token_file", &pods.token_file),
                                  std::pair("kubernetes.ca_file", &pods.ca_file),
                                  std::pair("kubernetes.certificate_file", &pods.certificate_file),
                                  std::pair("kubernetes.key_file", &pods.key_file)}) {
    std::error_code error;
    if (file->empty() || std::filesystem::exists(*file, error)) continue;
    found.push_back(fmt::format("{} = '{}': {}", where(reading, key), printable(file->native()),
                                error ? error.message() : "there is no such file"));
  }
  if (!pods.kubeconfig.empty() && !pods.api_url.empty()) {
    found.push_back(fmt::format("{} and {} exclude each other: unset one",
                                where(reading, "kubernetes.kubeconfig"),
                                where(reading, "kubernetes.api_url")));
  }
}

void look_at_cloud(const ConfigReading& reading, std::vector<std::string>& found) {
  const std::string& cloud = reading.config.pool.cloud;
  const auto& pods = reading.config.runpod;
  if (cloud != "off" && (pods.image.empty() || pods.gpu_types.empty())) {
    found.push_back(fmt::format("{} = \"{}\" makes no pod without {}: set it, or the cloud off",
                                where(reading, "pool.cloud"), cloud,
                                pods.image.empty() ? "runpod.image" : "runpod.gpu_types"));
  }
  const auto is_among = [](const std::string& name, const std::vector<std::string>& names) {
    return std::find(names.begin(), names.end(), name) != names.end();
  };
  const auto look_at_type = [&](const char* key, const std::string& type) {
    if (is_among(type, pods.gpu_types)) return;
    found.push_back(fmt::format("{} names '{}', which runpod.gpu_types lacks", where(reading, key),
                                printable(type)));
  };
  // "RTX 4090", "COMMUNITY" or "RTX 4090, COMMUNITY"
  const auto look_at_limit = [&](const char* key, const std::string& name) {
    const std::size_t comma = name.rfind(", ");
    const bool last = comma != std::string::npos && is_among(name.substr(comma + 2), pods.clouds);
    if (!is_among(name, pods.clouds)) look_at_type(key, last ? name.substr(0, comma) : name);
  };
  for (const std::string& type : pods.allow_unknown_price) {
    look_at_type("runpod.allow_unknown_price", type);
  }
  for (const std::string& text : pods.max_usd_per_type) {
    try {
      look_at_limit("runpod.max_usd_per_type", runpod::parse_price_limit(text).first);
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

// The entry's own numbers, or those of [pool] where it has none.
void look_at_schedules(const ConfigReading& reading, std::vector<std::string>& found) {
  const auto& pool = reading.config.pool;
  const bool is_set = origin_of(reading, "pool.free_running_gpu") != "default";
  for (const ScheduleConfig& entry : reading.config.schedules) {
    const auto usual = [](int own, int other) { return own >= 0 ? own : other; };
    const int least = usual(entry.min_running_gpu, pool.min_running_gpu);
    const int most = usual(entry.free_running_gpu, pool.free_running_gpu);
    const std::string& policy = entry.policy.empty() ? pool.policy : entry.policy;
    const bool ceiling = policy == "static" || is_set || entry.free_running_gpu >= 0;
    if (!ceiling || least <= most) continue;
    found.push_back(
        fmt::format("[[pool.schedule]] '{}': min_running_gpu = {} keeps more slots free "
                    "than free_running_gpu = {} lets stay: raise that one",
                    printable(entry.name), least, most));
  }
}

void look_at_webhook(const ConfigReading& reading, std::vector<std::string>& found) {
  const auto& webhook = reading.config.webhook;
  const std::vector<std::string>& known = webhook_types();
  for (const std::string& type : webhook.events) {
    if (std::find(known.begin(), known.end(), type) != known.end()) continue;
    found.push_back(fmt::format("{} names '{}', which is not a type of event{}",
                                where(reading, "webhook.events"), printable(type),
                                did_you_mean(type, known)));
  }
  if (webhook.url.empty()) return;
  try {
    parse_http_url(webhook.url);
  } catch (const Error& error) {
    found.push_back(where(reading, "webhook.url") + ": " + error.message());
  }
}

void look_at_trace(const ConfigReading& reading, std::vector<std::string>& found) {
  const std::string& url = reading.config.trace.url;
  if (url.empty()) return;
  try {
    parse_http_url(url);
  } catch (const Error& error) {
    found.push_back(where(reading, "trace.url") + ": " + error.message());
  }
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

void look_at_models(const ConfigReading& reading, std::vector<std::string>& found) {
  for (const std::string& source : model_sources(reading.config)) {
    try {
      open_source(source, source_options());
    } catch (const Error& error) {
      found.push_back(where(reading, "models.source") + ": " + error.message());
    }
  }
  try {
    Peers(peer_options(reading.config, ""), "");
  } catch (const Error& error) {
    found.push_back(where(reading, "models.peers") + ": " + error.message());
  }
  const std::string& bucket = reading.config.jobs.bucket;
  if (bucket.empty()) return;
  try {
    if (!bucket.starts_with("s3://"))
      throw Error(Code::invalid, "'" + printable(bucket) + "' is not s3://BUCKET/PREFIX");
    s3_location(bucket, source_options().variable);
  } catch (const Error& error) {
    found.push_back(where(reading, "jobs.bucket") + ": " + error.message());
  }
}

}  // namespace

std::vector<std::string> contradictions(const ConfigReading& reading) {
  std::vector<std::string> found;
  const bool cluster = uses_kubernetes(reading.config);
  if (cluster) look_at_kubernetes(reading, found);
  // Half a configuration of Runpod is a mistake, beside a cluster too.
  if (!cluster || !reading.config.runpod.image.empty()) look_at_cloud(reading, found);
  look_at_numbers(reading, found);
  look_at_schedules(reading, found);
  look_at_webhook(reading, found);
  look_at_trace(reading, found);
  look_at_devices(reading, found);
  look_at_models(reading, found);
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
