#include "scheduler/pool/drain_notices.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>

#include "core/text/lenient_json.h"

namespace navtalk {
namespace {

using Json = nlohmann::json;

void forget_removed(DrainNotices& notices, const std::vector<Gpu>& gpus) {
  std::set<GpuId> known;
  for (const Gpu& gpu : gpus) known.insert(gpu.id);
  std::erase_if(notices, [&](const DrainNotice& notice) { return !known.contains(notice.gpu); });
}

void forget(DrainNotices& notices, const GpuId& gpu) {
  std::erase_if(notices, [&](const DrainNotice& notice) { return notice.gpu == gpu; });
}

}  // namespace

std::string as_text(const DrainNotices& notices) {
  Json list = Json::array();
  for (const DrainNotice& notice : notices) {
    list.push_back(
        {{"gpu", notice.gpu.text}, {"ends_at_us", notice.ends_at.time_since_epoch().count()}});
  }
  return list.dump();
}

std::optional<DrainNotices> parse_drain_notices(std::string_view text) {
  const std::optional<Json> list = parse_json(text);
  if (!list || !list->is_array()) return std::nullopt;
  DrainNotices notices;
  for (const Json& entry : *list) {
    const auto gpu = text_field(entry, "gpu");
    const auto ends_at_us = whole_field(entry, "ends_at_us");
    if (gpu && ends_at_us) notices.push_back({{*gpu}, TimePoint(Duration(*ends_at_us))});
  }
  return notices;
}

void give_drain_notice(PoolStore& store, const DrainNotice& notice) {
  const std::vector<Gpu> gpus = store.view().gpus;
  k_drain_notices.update(store, [&](DrainNotices& notices) {
    forget_removed(notices, gpus);
    forget(notices, notice.gpu);
    notices.push_back(notice);
  });
}

void withdraw_drain_notice(PoolStore& store, const GpuId& gpu) {
  k_drain_notices.update(store, [&](DrainNotices& notices) { forget(notices, gpu); });
}

bool has_drain_notice(PoolStore& store, const GpuId& gpu) {
  const DrainNotices notices = k_drain_notices.read(store).value_or(DrainNotices{});
  return std::any_of(notices.begin(), notices.end(),
                     [&](const DrainNotice& notice) { return notice.gpu == gpu; });
}

}  // namespace navtalk
