#include "runpod/runpod_provider.h"

#include <algorithm>

#include "core/base/error.h"
#include "core/log/log.h"
#include "core/net/url.h"
#include "runpod/instance_status.h"

namespace navtalk::runpod {
namespace {

using std::chrono::milliseconds;
using Kind = ApiFault::Kind;

constexpr milliseconds k_catalog_again{10'000};  // after a catalog that did not come

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
    demand(!options.preferences.gpu_types.empty(), "gpu_types");
    demand(!options.preferences.clouds.empty(), "clouds");
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

// What one create has found so far.
struct RunpodProvider::CreateAttempt {
  int asked = 0, cooling_down = 0, too_expensive = 0, forbidden = 0;
  int unexplained = 0;                // 400 without the words for "nothing free"
  std::string last{};                 // the last refusal
  std::vector<Candidate> unpriced{};  // not asked because their prices are not known
  double usd_per_hour = 0;            // what the candidate that is asked now should cost
};

RunpodProvider::RunpodProvider(ProviderOptions options, ApiKey key)
    : options_(std::move(options)),
      api_(options_.api, std::move(key)),
      learned_(Learned{.cooldowns = Cooldowns(options_.cooldown, options_.longest_cooldown)}) {
  check(options_);
  parse_http_url(url("1"));  // a pod id that fits as host and as port
}

std::string RunpodProvider::url(const std::string& pod) const {
  return replaced(replaced(options_.proxy_url, "{port}", std::to_string(options_.port)), "{pod}",
                  pod);
}

NewPod RunpodProvider::order(const Gpu& gpu, const Candidate& candidate) const {
  NewPod pod{.name = gpu.name, .image = options_.image, .gpu_type = candidate.gpu_type};
  pod.min_cuda = options_.min_cuda;
  pod.cloud = candidate.cloud;
  pod.data_center = candidate.data_center;
  pod.disk_gb = options_.disk_gb;
  pod.ports = {std::to_string(options_.port) + "/http"};
  pod.args = replaced(options_.args, "{port}", std::to_string(options_.port));
  pod.args = replaced(pod.args, "{slots}", std::to_string(gpu.slots));
  pod.args = replaced(pod.args, "{silence_s}", std::to_string(options_.idle_shutdown.count()));
  pod.registry = options_.registry;
  pod.volume_id = options_.volume_id;
  pod.volume_path = options_.volume_path;
  pod.env = options_.env;
  // NAVTALK_ variables would be taken for settings; the token is the worker's own.
  pod.env["POD_POOL_ID"] = options_.pool_id;
  pod.env["POD_POOL_NAME"] = options_.pool;
  pod.env["POD_GPU_ID"] = gpu.id.text;
  pod.env["NAVTALK_WORKER_TOKEN"] = options_.worker_tokens.of_worker(gpu.name);
  pod.env["POD_DEAD_MAN_S"] = std::to_string(options_.idle_shutdown.count());
  pod.env["POD_DEAD_MAN_API_URL"] = options_.api.url;
  return pod;
}

Instance RunpodProvider::instance(const Pod& pod) const {
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

void RunpodProvider::learn_prices(const std::stop_token& stop) {
  const bool fresh = learned_.with([&](const Learned& learned) {
    return learned.catalog_at && Clock::now() - *learned.catalog_at < options_.catalog_age;
  });
  if (fresh) return;
  Catalog catalog;
  std::map<std::string, ApiFault> faults;
  for (const std::string& cloud : options_.preferences.clouds) {
    auto offers = api_.gpu_offers(cloud, stop);
    if (auto* known = std::get_if<std::vector<GpuOffer>>(&offers)) {
      catalog[cloud] = std::move(*known);
    } else {
      faults[cloud] = std::get<ApiFault>(offers);
      log::warn("no catalog from Runpod", {{"why", faults[cloud].message}});
    }
  }
  learned_.with([&](Learned& learned) {
    learned.catalog_at = Clock::now();
    if (catalog.empty()) *learned.catalog_at -= options_.catalog_age - k_catalog_again;
    for (auto& [cloud, offers] : catalog) learned.catalog[cloud] = std::move(offers);
    learned.no_catalog = std::move(faults);
  });
}

// In order. Without a catalog: as preferred.
std::vector<Candidate> RunpodProvider::ordered_candidates(const std::stop_token& stop) {
  learn_prices(stop);
  return learned_.with(
      [&](const Learned& learned) { return candidates(options_.preferences, learned.catalog); });
}

Outcome RunpodProvider::create(const Gpu& gpu, const std::stop_token& stop) {
  if (!options_.creates) return Refused{"the cloud is switched off, or not configured", false};
  const auto paused = learned_.with([](const Learned& learned) {
    return std::chrono::ceil<milliseconds>(learned.account_pause_until - Clock::now());
  });
  if (paused.count() > 0) {
    return NoCapacity{"Runpod refused this account a moment ago; creation is paused", paused};
  }
  const std::vector<Candidate> all = ordered_candidates(stop);
  if (all.empty()) {
    return NoCapacity{
        "no GPU type at Runpod is known to cost as little as runpod.max_usd_per_type wants",
        options_.catalog_age};
  }
  CreateAttempt attempt;
  for (const Candidate& candidate : all) {
    if (attempt.asked == options_.tries_per_create) break;
    if (!may_ask(gpu, candidate, attempt)) continue;
    if (auto outcome = try_candidate(gpu, candidate, attempt, stop)) return *outcome;
  }
  return no_candidate_left(attempt);
}

bool RunpodProvider::cooling_down(const Candidate& candidate) const {
  return learned_.with([&](const Learned& learned) {
    return learned.cooldowns.cooling_down(candidate, Clock::now());
  });
}

// What it counts for. nullopt: nobody knows, so the cap on spending forbids it.
std::optional<double> RunpodProvider::price_for(const Candidate& candidate) const {
  const auto known =
      learned_.with([&](const Learned& learned) { return price(candidate, learned.catalog); });
  const double seen = options_.cap ? options_.cap->seen(candidate.gpu_type) : 0;
  if (known || seen > 0) return std::max(known.value_or(0), seen);
  const auto& allowed = options_.allow_unknown_price;
  const bool any = !options_.cap ||
                   std::find(allowed.begin(), allowed.end(), candidate.gpu_type) != allowed.end();
  if (!any) return std::nullopt;
  return options_.fallback_usd_per_hour;
}

// Not in its cooldown, and its price is known and reserved.
bool RunpodProvider::may_ask(const Gpu& gpu, const Candidate& candidate,
                             CreateAttempt& attempt) const {
  if (cooling_down(candidate)) {
    ++attempt.cooling_down;
    return false;
  }
  const std::optional<double> usd = price_for(candidate);
  if (!usd) {
    attempt.unpriced.push_back(candidate);
    return false;
  }
  if (options_.cap && !options_.cap->reserve(gpu, *usd)) {
    ++attempt.too_expensive;
    return false;
  }
  attempt.usd_per_hour = *usd;
  return true;
}

// nullopt: go on to the next candidate.
std::optional<Outcome> RunpodProvider::try_candidate(const Gpu& gpu, const Candidate& candidate,
                                                     CreateAttempt& attempt,
                                                     const std::stop_token& stop) {
  ++attempt.asked;
  const ApiResult<Pod> result = api_.create(order(gpu, candidate), stop);
  if (const auto* pod = std::get_if<Pod>(&result)) {
    learned_.with([&](Learned& learned) { learned.cooldowns.accepted(candidate); });
    Instance made = instance(*pod);
    if (made.device.empty()) made.device = candidate.gpu_type;
    if (made.usd_per_hour <= 0) {
      made.usd_per_hour = attempt.usd_per_hour;
      made.price_expected = true;
    }
    const bool known = learned_.with(
        [&](const Learned& learned) { return price(candidate, learned.catalog).has_value(); });
    if (!known) {
      log::warn("a pod was created whose price the catalog does not know",
                {{"gpu", gpu.id.text},
                 {"candidate", describe(candidate)},
                 {"usd_per_hour", std::to_string(made.usd_per_hour)}});
    }
    return Outcome(Done{std::move(made)});
  }
  const auto& fault = std::get<ApiFault>(result);
  if (fault.kind != Kind::rejected && fault.kind != Kind::forbidden) {
    return outcome_of(fault, "creating " + gpu.name);
  }
  attempt.last = describe(candidate) + ": " + fault.message;
  attempt.forbidden += fault.kind == Kind::forbidden ? 1 : 0;
  attempt.unexplained += fault.kind == Kind::rejected && !says_no_capacity(fault.message) ? 1 : 0;
  log::info("no pod there", {{"candidate", describe(candidate)}, {"why", fault.message}});
  learned_.with([&](Learned& learned) { learned.cooldowns.refused(candidate, Clock::now()); });
  return std::nullopt;
}

Outcome RunpodProvider::no_candidate_left(const CreateAttempt& attempt) {
  const milliseconds wait = learned_.with([&](const Learned& learned) {
    return learned.cooldowns.wait(candidates(options_.preferences, learned.catalog), Clock::now());
  });
  if (attempt.asked == 0) return none_asked(attempt, wait);
  if (attempt.forbidden == attempt.asked) {
    learned_.with(
        [&](Learned& l) { l.account_pause_until = Clock::now() + options_.account_pause; });
    return Refused{"this key may not create pods at any candidate: " + attempt.last, true};
  }
  if (attempt.unexplained + attempt.forbidden == attempt.asked && attempt.cooling_down == 0) {
    // An invalid request fails everywhere, and no code distinguishes it from a lack of capacity.
    return Refused{"every candidate refused with 400, so the request may be wrong: " + attempt.last,
                   false};
  }
  return NoCapacity{
      "no capacity at Runpod in " + std::to_string(attempt.asked) +
          " candidates (if this stays, check image, CUDA and data centres): " + attempt.last,
      wait};
}

// The catalog of a cloud where it would have been asked has never come: the reason decides, as if a
// create had told it. nullopt: they have all come.
std::optional<Outcome> RunpodProvider::no_prices(const CreateAttempt& attempt) {
  const auto fault = learned_.with([&](const Learned& learned) -> std::optional<ApiFault> {
    for (const Candidate& candidate : attempt.unpriced) {
      const auto found = learned.no_catalog.find(candidate.cloud);
      const bool never = !learned.catalog.contains(candidate.cloud);
      if (never && found != learned.no_catalog.end()) return found->second;
    }
    return std::nullopt;
  });
  if (!fault) return std::nullopt;
  Outcome outcome = outcome_of(*fault, "reading the prices for pool.max_usd_per_hour");
  if (auto* none = std::get_if<NoCapacity>(&outcome)) {
    none->retry_after = std::max(none->retry_after, Duration(k_catalog_again));
  } else if (const auto* unknown = std::get_if<UnknownOutcome>(&outcome)) {
    // No create was sent.
    if (fault->kind == Kind::stopped) return NoCapacity{unknown->message, k_catalog_again};
    return Failure{.message = unknown->message, .nothing_made = true};
  }
  return outcome;
}

Outcome RunpodProvider::none_asked(const CreateAttempt& attempt, milliseconds wait) {
  const bool unpriced = !attempt.unpriced.empty();
  if (unpriced) {
    if (auto outcome = no_prices(attempt)) return *outcome;
  }
  const std::string advice = "the catalog of Runpod has no price for '" +
                             (unpriced ? attempt.unpriced.back().gpu_type : "") +
                             "', and pool.max_usd_per_hour allows no GPU without a known price: "
                             "to create it all the same, name it in runpod.allow_unknown_price";
  if (unpriced && attempt.cooling_down == 0 && attempt.too_expensive == 0) {
    return Refused{advice, false};
  }
  std::string why = "every candidate at Runpod ";
  if (attempt.cooling_down > 0) why += "is in its cooldown after a refusal";
  if (attempt.cooling_down > 0 && attempt.too_expensive > 0) why += ", or ";
  if (attempt.too_expensive > 0) why += "costs more than the cap on spending leaves";
  if (unpriced) why += "; " + advice;
  return NoCapacity{why, wait};
}

Outcome RunpodProvider::outcome_of(const ApiFault& fault, const std::string& what) {
  const std::string message = what + " at Runpod: " + fault.message;
  switch (fault.kind) {
    case Kind::account:
    case Kind::api_gone:
    case Kind::edge_block:
    case Kind::forbidden:
      learned_.with(
          [&](Learned& l) { l.account_pause_until = Clock::now() + options_.account_pause; });
      log::error("Runpod refuses", {{"what", message}});
      return Refused{message, true};
    case Kind::rate_limited:
    case Kind::unreachable:
      return NoCapacity{message, std::max(fault.retry_after.value_or(milliseconds(0)),
                                          std::max(api_.quota_wait(), milliseconds(1'000)))};
    case Kind::stopped:
    case Kind::unknown:
    case Kind::malformed:
      return UnknownOutcome{message};
    case Kind::rejected:
    case Kind::not_found:
    case Kind::conflict:
    case Kind::bad_request:
      break;
  }
  return Refused{message, false};
}

}  // namespace navtalk::runpod
