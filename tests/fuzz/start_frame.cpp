// A client's session.start. What is accepted is within its bounds, and a worker gets the same, without what is between the client and
// its gateway.
#include "server/protocol/start_frame.h"

#include <cstdint>
#include <nlohmann/json.hpp>

#include "core/base/error.h"
#include "core/text/printable.h"
#include "server/protocol/control_frame.h"
#include "tests/fuzz/expect.h"

namespace {

using namespace navtalk;
using namespace navtalk::server;

bool within(int value, int least, int most) { return value >= least && value <= most; }

std::optional<StartFrame> accepted(const nlohmann::json& frame) {
  try {
    return parse_start(frame);
  } catch (const Error& error) {
    expect(error.code() == Code::usage && is_utf8(error.message()), "a refusal names a member");
    return std::nullopt;
  }
}

void check_bounds(const StartFrame& start) {
  expect(start.width == 0 || within(start.width, 16, 4096), "a width is within its bounds");
  expect(within(start.bit_per_s, 100'000, 20'000'000), "a bit rate is within its bounds");
  expect(within(start.audio_rate_hz, 8'000, 48'000), "a sample rate is within its bounds");
  if (start.position) expect(start.position->clock.count() >= 0, "a clock begins at 0");
  for (const int height : {1, 64, 10'000}) {
    if (start.width == 0 || size_fault(start, 640, height)) continue;
    const double shown = static_cast<double>(start.width) * height / 640;
    expect(start.width <= 1920, "no avatar is enlarged beyond 1920 pixels");
    expect(shown >= 16 && shown <= 4096, "a height that can be shown is within its bounds");
  }
}

// Beside the position, which is the gateway's to say.
bool same(const StartFrame& a, const StartFrame& b) {
  return a.avatar == b.avatar && a.width == b.width && a.bit_per_s == b.bit_per_s &&
         a.audio_rate_hz == b.audio_rate_hz && a.opus == b.opus;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  const std::optional<nlohmann::json> frame = parse_control(text);
  if (!frame) return 0;
  const std::optional<StartFrame> start = accepted(*frame);
  if (start) check_bounds(*start);
  const StreamPosition moved{.clock = std::chrono::microseconds(7), .sounds = 8, .pictures = 9};
  for (const std::optional<StreamPosition>& position : {std::optional<StreamPosition>(), {moved}}) {
    const auto sent = parse_control(start_for_worker(*frame, position));
    // Escapes that were written as themselves may make a frame longer.
    if (!sent) continue;
    expect(!sent->contains("resume_token"), "a worker gets no resume token");
    const std::optional<StartFrame> read = accepted(*sent);
    if (start) expect(read && same(*read, *start), "a worker gets what the client asked for");
    if (read) expect(read->position == position, "only the gateway says where a session stands");
  }
  return 0;
}
