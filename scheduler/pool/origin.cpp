#include "scheduler/pool/origin.h"

namespace navtalk {
namespace {

constexpr std::array<std::string_view, k_origins.size()> k_origin_names = {
    "local", "external", "runpod", "kubernetes", "cloud"};

}  // namespace

std::string_view name(Origin origin) { return k_origin_names.at(static_cast<std::size_t>(origin)); }

std::optional<Origin> parse_origin(std::string_view text) {
  for (const Origin origin : k_origins) {
    if (name(origin) == text) return origin;
  }
  return std::nullopt;
}

Origin origin_of(Source source, std::string_view provider_id) {
  if (source == Source::local) return Origin::local;
  if (source == Source::external) return Origin::external;
  if (provider_id.empty()) return Origin::cloud;
  return provider_id.starts_with("kubernetes/") ? Origin::kubernetes : Origin::runpod;
}

Origin origin_of(const Gpu& gpu) { return origin_of(gpu.source, gpu.provider_id); }

bool in_cloud(Origin origin) { return origin >= Origin::runpod; }

}  // namespace navtalk
