#include "runpod/runpod_provider.h"

#include <algorithm>
#include <limits>

#include "core/base/error.h"
#include "core/log/log.h"
#include "core/net/url.h"
#include "runpod/remote_state.h"

namespace navtalk::runpod {
namespace {

using std::chrono::milliseconds;
using Kind = ApiFault::Kind;

constexpr double k_unbounded = std::numeric_limits<double>::infinity();

std::string replaced(std::string text, std::string_view mark, const std::string& value) {
  for (std::size_t at = 0; (at = text.find(mark, at)) != std::string::npos; at += value.size()) {
    text.replace(at, mark.size(), value);
  }
  return text;
}

void check(const ProviderOptions& options) {
  const auto demand = [](bool there, const char* key) {
    if (!there) throw Error(Code::invalid, std::string("runpod.") + key + " is not set");
  };
  if (options.creates) {
    demand(!options.image.empty(), "image");
    demand(!options.wishes.gpu_types.empty(), "gpu_types");
    demand(!options.wishes.clouds.empty(), "clouds");
  }
  constexpr std::size_t k_most_variables = 50 - 10;  // Runpod's bound, less what we add
  if (options.env.size() > k_most_variables) {
    throw Error(Code::invalid, "a pod takes at most 40 further variables");
  }
  if (options.proxy_url.find("{pod}") == std::string::npos) {
    throw Error(Code::invalid, "runpod.proxy_url must hold {pod}");
  }
}

}  // namespace

// One create's way through the places.
struct Provider::Walk {
  int asked = 0, resting = 0, dear = 0, forbidden = 0;
  int unexplained = 0;  // 400 without the words for "nothing free"
  std::string last{};   // the last refusal
};

Provider::Provider(ProviderOptions options, ApiKey key)
    : options_(std::move(options)),
      api_(options_.api, std::move(key)),
      learnt_(Learnt{.rests = CoolDowns(options_.cool_down, options_.longest_cool_down)}) {
  check(options_);
  parse_http_url(url("1"));  // a pod id that fits as host and as port
}

std::string Provider::url(const std::string& pod) const {
  return replaced(replaced(options_.proxy_url, "{port}", std::to_string(options_.port)), "{pod}",
                  pod);
}

NewPod Provider::order(const Gpu& gpu, const Candidate& place) const {
  NewPod pod{.name = gpu.name, .image = options_.image, .gpu_type = place.gpu_type};
  pod.min_cuda = options_.min_cuda;
  pod.cloud = place.cloud;
  pod.data_center = place.data_center;
  pod.disk_gb = options_.disk_gb;
  pod.ports = {std::to_string(options_.port) + "/http"};
  pod.args = replaced(options_.args, "{port}", std::to_string(options_.port));
  pod.args = replaced(pod.args, "{slots}", std::to_string(gpu.slots));
  pod.args = replaced(pod.args, "{silence_s}", std::to_string(options_.dead_man.count()));
  pod.registry = options_.registry;
  pod.volume_id = options_.volume_id;
  pod.volume_path = options_.volume_path;
  pod.env = options_.env;
  // NAVTALK_ variables would be taken for settings; the token is the worker's own.
  pod.env["POD_POOL_ID"] = options_.pool_id;
  pod.env["POD_POOL_NAME"] = options_.pool;
  pod.env["POD_GPU_ID"] = gpu.id.text;
  pod.env["NAVTALK_WORKER_TOKEN"] = options_.worker_token;
  pod.env["POD_DEAD_MAN_S"] = std::to_string(options_.dead_man.count());
  pod.env["POD_DEAD_MAN_API_URL"] = options_.api.url;
  return pod;
}

Instance Provider::instance(const Pod& pod) const {
  Instance result{.provider_id = pod.id, .name = pod.name};
  result.status = instance_status(pod.status);
  result.url = url(pod.id);
  result.device = pod.gpu_type;
  result.usd_per_hour = pod.usd_per_hour;
  result.detail = pod.status_word;
  if (pod.age) {
    result.age = *pod.age;
    result.age_sure = true;
  } else if (pod.created_at) {
    const auto age = std::chrono::system_clock::now() - *pod.created_at;
    result.age = std::max(Duration{}, std::chrono::duration_cast<Duration>(age));
  }
  for (const std::string& part : {pod.cloud, pod.data_center}) {
    if (!part.empty()) result.detail += " " + part;
  }
  return result;
}

void Provider::learn_prices(const std::stop_token& stop) {
  const bool fresh = learnt_.with([&](const Learnt& learnt) {
    return learnt.catalog_at && Clock::now() - *learnt.catalog_at < options_.catalog_age;
  });
  if (fresh) return;
  Catalog catalog;
  for (const std::string& cloud : options_.wishes.clouds) {
    auto offers = api_.gpu_offers(cloud, stop);
    if (auto* known = std::get_if<std::vector<GpuOffer>>(&offers)) {
      catalog[cloud] = std::move(*known);
    } else {
      log::warn("no catalog from Runpod", {{"why", std::get<ApiFault>(offers).message}});
    }
  }
  learnt_.with([&](Learnt& learnt) {
    if (!catalog.empty()) learnt.catalog = std::move(catalog);
    learnt.catalog_at = Clock::now();
  });
}

// All places in order. Without a catalog they stand as wished.
std::vector<Candidate> Provider::places(const std::stop_token& stop) {
  learn_prices(stop);
  return learnt_.with(
      [&](const Learnt& learnt) { return candidates(options_.wishes, learnt.catalog); });
}

Outcome Provider::create(const Gpu& gpu, const std::stop_token& stop) {
  if (!options_.creates) return Refused{"the cloud is switched off, or not configured", false};
  const auto paused = learnt_.with([](const Learnt& learnt) {
    return std::chrono::ceil<milliseconds>(learnt.account_pause_until - Clock::now());
  });
  if (paused.count() > 0) {
    return NoCapacity{"Runpod refused this account a moment ago; creation rests", paused};
  }
  const std::vector<Candidate> all = places(stop);
  const double budget = options_.budget ? options_.budget(gpu) : k_unbounded;
  Walk walk;
  for (const Candidate& place : all) {
    if (!affordable(place, budget)) {
      ++walk.dear;
      continue;
    }
    const bool rests = learnt_.with(
        [&](const Learnt& learnt) { return learnt.rests.resting(place, Clock::now()); });
    if (rests) {
      ++walk.resting;
      continue;
    }
    if (walk.asked == options_.tries_per_create) break;
    if (auto outcome = try_place(gpu, place, walk, stop)) return *outcome;
  }
  return walked(walk);
}

// A price that nobody knows is found out by asking.
bool Provider::affordable(const Candidate& place, double budget) const {
  return learnt_.with(
      [&](const Learnt& learnt) { return price(place, learnt.catalog).value_or(0) <= budget; });
}

// nullopt: go on to the next place.
std::optional<Outcome> Provider::try_place(const Gpu& gpu, const Candidate& place, Walk& walk,
                                           const std::stop_token& stop) {
  ++walk.asked;
  const ApiResult<Pod> result = api_.create(order(gpu, place), stop);
  if (const auto* pod = std::get_if<Pod>(&result)) {
    learnt_.with([&](Learnt& learnt) { learnt.rests.accepted(place); });
    Instance made = instance(*pod);
    if (made.device.empty()) made.device = place.gpu_type;
    if (made.usd_per_hour == 0) {
      made.usd_per_hour = learnt_.with([&](const Learnt& learnt) {
        return price(place, learnt.catalog).value_or(options_.fallback_usd_per_hour);
      });
    }
    return Outcome(Done{std::move(made)});
  }
  const auto& fault = std::get<ApiFault>(result);
  if (fault.kind != Kind::rejected && fault.kind != Kind::forbidden) {
    return outcome_of(fault, "creating " + gpu.name);
  }
  walk.last = describe(place) + ": " + fault.message;
  walk.forbidden += fault.kind == Kind::forbidden ? 1 : 0;
  walk.unexplained += fault.kind == Kind::rejected && !says_no_capacity(fault.message) ? 1 : 0;
  log::info("no pod there", {{"place", describe(place)}, {"why", fault.message}});
  learnt_.with([&](Learnt& learnt) { learnt.rests.refused(place, Clock::now()); });
  return std::nullopt;
}

// No place gave a pod.
Outcome Provider::walked(const Walk& walk) {
  const milliseconds wait = learnt_.with([&](const Learnt& learnt) {
    return learnt.rests.wait(candidates(options_.wishes, learnt.catalog), Clock::now());
  });
  if (walk.asked == 0) {
    const std::string dear =
        walk.dear == 0 ? "" : ", or costs more than the cap on spending leaves";
    return NoCapacity{"every place at Runpod rests after a refusal" + dear, wait};
  }
  if (walk.forbidden == walk.asked) {
    learnt_.with([&](Learnt& l) { l.account_pause_until = Clock::now() + options_.account_pause; });
    return Refused{"this key may not create pods in any of the places: " + walk.last, true};
  }
  if (walk.unexplained + walk.forbidden == walk.asked && walk.resting == 0) {
    // A broken rule fails alike everywhere, and no code tells it from full places.
    return Refused{"every place refused with 400, so the request may be wrong: " + walk.last,
                   false};
  }
  return NoCapacity{"no capacity at Runpod in " + std::to_string(walk.asked) +
                        " places (if this stays, check image, CUDA and data centres): " + walk.last,
                    wait};
}

Outcome Provider::outcome_of(const ApiFault& fault, const std::string& what) {
  const std::string message = what + " at Runpod: " + fault.message;
  switch (fault.kind) {
    case Kind::account:
    case Kind::api_gone:
    case Kind::edge_block:
    case Kind::forbidden:
      learnt_.with(
          [&](Learnt& l) { l.account_pause_until = Clock::now() + options_.account_pause; });
      log::error("Runpod refuses", {{"what", message}});
      return Refused{message, true};
    case Kind::rate_limited:
    case Kind::unreachable:
      return NoCapacity{message, std::max(fault.retry_after.value_or(milliseconds(0)),
                                          std::max(api_.quota_wait(), milliseconds(1'000)))};
    case Kind::stopped:
    case Kind::unclear:
    case Kind::nonsense:
      return UnknownOutcome{message};
    case Kind::rejected:
    case Kind::not_found:
    case Kind::conflict:
    case Kind::wrong:
      break;
  }
  return Refused{message, false};
}

}  // namespace navtalk::runpod
