#include "server/protocol/start_frame.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "core/base/error.h"

namespace navtalk::server {
namespace {

using nlohmann::json;

struct Range {
  int least, most;
};
constexpr Range k_width{16, 4096}, k_bitrate{100'000, 20'000'000}, k_rate{8'000, 48'000};

// The member of a member, unless it is missing or null.
const json* member(const json& frame, const char* group, const char* name) {
  const auto outer = frame.find(group);
  if (outer == frame.end() || !outer->is_object()) return nullptr;
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

}  // namespace

StartFrame parse_start(const json& frame) {
  StartFrame start;
  if (const auto avatar = frame.find("avatar"); avatar != frame.end() && avatar->is_string()) {
    start.avatar = avatar->get<std::string>();
  }
  read(frame, "video", "width", k_width, start.width);
  read(frame, "video", "bitrate", k_bitrate, start.bit_per_s);
  read(frame, "audio", "rate", k_rate, start.audio_rate_hz);
  if (const json* output = member(frame, "audio", "output");
      output != nullptr && *output != "pcm") {
    if (*output != "opus") throw Error(Code::usage, "audio.output is \"pcm\" or \"opus\"");
    start.opus = true;
  }
  return start;
}

}  // namespace navtalk::server
