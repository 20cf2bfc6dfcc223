#include "scheduler/service/event_webhook.h"

#include <algorithm>
#include <limits>
#include <nlohmann/json.hpp>

#include "core/log/log.h"
#include "core/text/number.h"
#include "scheduler/pool/notices.h"
#include "scheduler/pool/settings.h"
#include "scheduler/service/pool_report.h"

namespace navtalk {
namespace {

std::string number_text(const std::int64_t& number) { return std::to_string(number); }
std::optional<std::int64_t> parse_event_number(std::string_view text) {
  return parse_number<std::int64_t>(text);
}
constexpr Setting<std::int64_t> k_cursor{setting_name::k_webhook_cursor, number_text,
                                         parse_event_number};

}  // namespace

const std::vector<std::string>& webhook_types() {
  static const std::vector<std::string> types = {"gpu.failed",    "budget.reached",
                                                 "cloud.refused", "outage.begun",
                                                 "outage.over",   "sessions.break"};
  return types;
}

std::optional<std::string> webhook_type(const PoolEvent& event) {
  const std::string_view why = event.why;
  if (!event.gpu.empty()) {
    const bool fails = event.to == State::failed && event.from != State::failed;
    return fails ? std::optional<std::string>("gpu.failed") : std::nullopt;
  }
  if (event.who == "budget") return "budget.reached";
  if (why.starts_with(notice::k_creation_paused)) return "cloud.refused";
  if (why.ends_with(notice::k_outage_begins)) return "outage.begun";
  if (why.ends_with(notice::k_outage_over)) return "outage.over";
  if (why.ends_with(notice::k_sessions_break)) return "sessions.break";
  return std::nullopt;
}

EventWebhook::EventWebhook(PoolStore& store, EventWebhookOptions options)
    : store_(store), options_(std::move(options)) {}

bool EventWebhook::tells(const PoolEvent& event) const {
  const auto type = webhook_type(event);
  const auto& types = options_.types;
  return type && (types.empty() || std::find(types.begin(), types.end(), *type) != types.end());
}

bool EventWebhook::deliver(const PoolEvent& event, const std::stop_token& stop) {
  const std::string type = webhook_type(event).value();
  nlohmann::ordered_json body = as_json(event);
  const std::string id = options_.identity.id + "-" + std::to_string(event.number);
  const std::string text = nlohmann::ordered_json{
      {"id", id},
      {"type", type},
      {"pool", options_.identity.pool},
      {"event",
       std::move(body)}}.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
  const WebhookResult result = sender_.send(options_.target, {id, type, text}, stop);
  if (result.delivered) {
    failures_ = 0;
    return true;
  }
  if (stop.stop_requested()) return false;
  const auto delay = webhook_delay(++failures_, result.retry_after);
  due_ = std::chrono::steady_clock::now() + delay;
  log::warn("the webhook was not delivered",
            {{"event", id}, {"why", result.why}, {"again_in_s", std::to_string(delay.count())}});
  return false;
}

int EventWebhook::step(const std::stop_token& stop) {
  const std::optional<std::int64_t> known = k_cursor.read(store_);
  if (!known) {
    const std::vector<PoolEvent> newest = store_.events({.limit = 1});
    k_cursor.write(store_, newest.empty() ? 0 : newest.back().number);
    return 0;
  }
  if (std::chrono::steady_clock::now() < due_) return 0;
  const TimePoint now = std::chrono::time_point_cast<Duration>(std::chrono::system_clock::now());
  std::int64_t passed = *known;
  int delivered = 0;
  const std::vector<PoolEvent> events = store_.events(
      {.after = *known, .limit = static_cast<std::size_t>(std::numeric_limits<int>::max())});
  for (const PoolEvent& event : events) {
    if (stop.stop_requested()) break;
    if (tells(event) && now - event.at >= options_.give_up) {
      log::error("an event was too old for the webhook and is skipped",
                 {{"event", std::to_string(event.number)}});
    } else if (tells(event)) {
      if (!deliver(event, stop)) break;
      ++delivered;
      k_cursor.write(store_, event.number);  // what was delivered is not repeated after a crash
    }
    passed = event.number;
  }
  if (passed > *known) k_cursor.write(store_, passed);
  return delivered;
}

}  // namespace navtalk
