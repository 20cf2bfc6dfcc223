#include "server/protocol/start_frame.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <nlohmann/json.hpp>

#include "core/base/error.h"

namespace navtalk::server {
namespace {

using nlohmann::json;

struct Range {
  int least, most;
};
constexpr const char* k_position = "position";
constexpr std::int64_t k_longest_session_us = std::int64_t{366} * 24 * 3600 * 1'000'000;

// Of a picture that is larger than its avatar's: coding it takes other sessions' time, and shows no more.
constexpr int k_most_enlarged = 1920;
constexpr Range k_side{16, 4096}, k_bitrate{100'000, 20'000'000}, k_rate{8'000, 48'000};

// The member of a member, unless it or that is missing or null.
const json* member(const json& frame, const char* group, const char* name) {
  const auto outer = frame.find(group);
  if (outer == frame.end() || outer->is_null()) return nullptr;
  if (!outer->is_object()) throw Error(Code::usage, fmt::format("{} is an object", group));
  const auto inner = outer->find(name);
  return inner == outer->end() || inner->is_null() ? nullptr : &*inner;
}

void read(const json& frame, const char* group, const char* name, const Range& range, int& value) {
  const json* found = member(frame, group, name);
  if (found == nullptr) return;
  const bool fits = found->is_number_integer() && *found >= range.least && *found <= range.most;
  if (!fits) {
    throw Error(Code::usage, fmt::format("{}.{} is a whole number from {} to {}", group, name,
                                         range.least, range.most));
  }
  value = found->get<int>();
}

// A number of the position.
std::int64_t read_position(const json& frame, const char* name, std::int64_t most) {
  const json* found = member(frame, k_position, name);
  if (found != nullptr && found->is_number_integer() && *found >= 0 && *found <= most) {
    return found->get<std::int64_t>();
  }
  throw Error(Code::usage,
              fmt::format("{}.{} is a whole number from 0 to {}", k_position, name, most));
}

std::optional<StreamPosition> parse_position(const json& frame) {
  if (!frame.contains(k_position)) return std::nullopt;
  constexpr std::int64_t k_most = std::numeric_limits<std::uint32_t>::max();
  return StreamPosition{
      .clock = std::chrono::microseconds(read_position(frame, "clock_us", k_longest_session_us)),
      .sounds = static_cast<std::uint32_t>(read_position(frame, "sounds", k_most)),
      .pictures = static_cast<std::uint32_t>(read_position(frame, "pictures", k_most))};
}

}  // namespace

StartFrame parse_start(const json& frame) {
  StartFrame start;
  if (const auto avatar = frame.find("avatar"); avatar != frame.end() && !avatar->is_null()) {
    if (!avatar->is_string()) throw Error(Code::usage, "avatar is an id, a text");
    start.avatar = avatar->get<std::string>();
  }
  read(frame, "video", "width", k_side, start.width);
  read(frame, "video", "bitrate", k_bitrate, start.bit_per_s);
  read(frame, "audio", "rate", k_rate, start.audio_rate_hz);
  if (const json* output = member(frame, "audio", "output");
      output != nullptr && *output != "pcm") {
    if (*output != "opus") throw Error(Code::usage, "audio.output is \"pcm\" or \"opus\"");
    start.opus = true;
  }
  start.position = parse_position(frame);
  return start;
}

std::optional<std::string> size_fault(const StartFrame& start, int width, int height) {
  if (start.width == 0) return std::nullopt;
  if (const int most = std::max(width, k_most_enlarged); start.width > most) {
    return fmt::format("video.width {} is too large: this avatar is shown up to {} pixels wide",
                       start.width, most);
  }
  const double shown = static_cast<double>(start.width) * height / width;
  if (shown >= k_side.least && shown <= k_side.most) return std::nullopt;
  return fmt::format(
      "video.width {} would make the avatar's pictures {:.0f} pixels high: {} to {} are possible",
      start.width, shown, k_side.least, k_side.most);
}

std::string start_for_worker(json frame, const std::optional<StreamPosition>& position) {
  frame.erase("resume_token");
  frame.erase(k_position);
  if (position) {
    frame[k_position] = {{"clock_us", position->clock.count()},
                         {"sounds", position->sounds},
                         {"pictures", position->pictures}};
  }
  return frame.dump(-1, ' ', false, json::error_handler_t::replace);
}

}  // namespace navtalk::server
