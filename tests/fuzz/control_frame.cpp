// A text frame of a client or a worker. A frame that is accepted is within its bounds, and stays the
// same when it is written and read again.
#include "server/protocol/control_frame.h"

#include <algorithm>
#include <cstdint>
#include <nlohmann/json.hpp>

#include "core/text/printable.h"
#include "tests/fuzz/expect.h"

namespace {

using namespace navtalk;
using namespace navtalk::server;

int depth_of(const nlohmann::json& value) {
  if (!value.is_structured()) return 0;
  int deepest = 0;
  for (const auto& item : value) deepest = std::max(deepest, depth_of(item));
  return deepest + 1;
}

// Whatever an error quotes, the client gets a frame that it can read.
void check_error(const std::string& text) {
  const Frame frame = error_frame("usage", "unknown type " + printable_start(text, 64), 1);
  expect(frame.text && type_of(frame.bytes) == frame_type::error, "an error is a control frame");
  const Frame raw = error_frame(text, text);
  const auto parsed = nlohmann::json::parse(raw.bytes, nullptr, false);
  expect(parsed.is_object() && is_utf8(raw.bytes), "an error is JSON, whatever it quotes");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  check_error(text);
  const std::optional<nlohmann::json> object = parse_control(text);
  const std::string type = type_of(text);
  expect(start_too_long(text).has_value() == (size > k_longest_start), "a start is bounded");
  if (!object) {
    expect(type.empty(), "a frame that is not a control frame has no type");
    return 0;
  }
  expect(size <= k_longest_start && depth_of(*object) <= k_deepest_control,
         "a control frame is within its bounds");
  expect(object->at("type").is_string(), "a control frame has a type");
  expect(size <= k_longest_control || type.empty() || type == frame_type::start,
         "only a start is longer than other frames");
  const Frame again = control_frame(nlohmann::ordered_json(*object));
  expect(nlohmann::json::parse(again.bytes) == *object, "a frame that is written stays the same");
  return 0;
}
