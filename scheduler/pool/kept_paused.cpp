#include "scheduler/pool/kept_paused.h"

#include <map>
#include <nlohmann/json.hpp>

#include "core/base/error.h"

namespace navtalk {
namespace {

using nlohmann::json;
using Pauses = std::map<GpuId, std::uint64_t>;

constexpr std::string_view k_setting = "operator.paused";
constexpr int k_tries = 20;

// What another version wrote and we cannot read counts as none.
Pauses parse(const std::optional<std::string>& text) {
  const json record = text ? json::parse(*text, nullptr, false) : json();
  Pauses pauses;
  if (!record.is_object()) return pauses;
  for (const auto& [id, number] : record.items()) {
    if (number.is_number_unsigned()) pauses[{id}] = number.get<std::uint64_t>();
  }
  return pauses;
}

Pauses those_that_hold(const Pauses& pauses, const std::vector<Gpu>& gpus) {
  Pauses held;
  for (const Gpu& gpu : gpus) {
    const auto found = pauses.find(gpu.id);
    if (found != pauses.end() && found->second == gpu.intent.number) held.insert(*found);
  }
  return held;
}

}  // namespace

void keep_paused(PoolStore& store, const Gpu& row) {
  for (int i = 0; i < k_tries; ++i) {
    const std::optional<std::string> before = store.setting(k_setting);
    Pauses pauses = those_that_hold(parse(before), store.view().gpus);
    pauses[row.id] = row.intent.number;
    json record = json::object();
    for (const auto& [id, number] : pauses) record[id.text] = number;
    if (store.swap_setting(k_setting, before, record.dump())) return;
  }
  throw Error(Code::failed, row.id.text +
                                " is paused, but that it is to stay so could not be "
                                "written: others write all the time; try again");
}

std::set<GpuId> kept_paused(PoolStore& store, const std::vector<Gpu>& gpus) {
  std::set<GpuId> kept;
  for (const auto& [id, number] : those_that_hold(parse(store.setting(k_setting)), gpus))
    kept.insert(id);
  return kept;
}

}  // namespace navtalk
