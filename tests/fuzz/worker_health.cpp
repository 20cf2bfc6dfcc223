// What a worker, or whatever answers in its place, says of itself and of its errors. What is taken is
// within its bounds, and stays the same when it is written and read again.
#include "scheduler/health/worker_health.h"

#include <cstdint>
#include <nlohmann/json.hpp>

#include "core/text/printable.h"
#include "scheduler/health/worker_protocol.h"
#include "tests/fuzz/expect.h"

namespace {

using namespace navtalk;

void check_error(const std::string& body) {
  const auto words = worker_error(body);
  if (words)
    expect(is_utf8(*words) && words->find_first_of("\r\n") == words->npos,
           "a worker's words are one line of text");
  worker_error_code(body);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string body(reinterpret_cast<const char*>(data), size);
  check_error(body);
  is_worker_protocol(body);
  const std::optional<WorkerHealth> health = parse_worker_health(body);
  if (!health) return 0;
  why_unready(*health, true);
  expect(health->slots >= 0 && health->sessions >= 0, "numbers of sessions are not negative");
  const std::string written = as_json(*health).dump();
  const std::optional<WorkerHealth> again = parse_worker_health(written);
  expect(again && as_json(*again).dump() == written, "health that is written stays the same");
  return 0;
}
