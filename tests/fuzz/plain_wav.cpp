// A WAV file whose length needs no decoder. What is accepted lasts no longer than its bytes can, and ends where the file does.
#include "server/gateway/jobs/speech/plain_wav.h"

#include <cmath>
#include <cstdint>
#include <string>

#include "tests/fuzz/expect.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace navtalk;
  const std::string file(reinterpret_cast<const char*>(data), size);
  const auto seconds = server::plain_wav_seconds(file);
  if (!seconds) return 0;
  constexpr double k_least_bytes_per_s = 4'000;
  constexpr std::size_t k_headers = 44;
  expect(std::isfinite(*seconds) && *seconds > 0, "a recording lasts a while");
  expect(
      size > k_headers && *seconds <= static_cast<double>(size - k_headers) / k_least_bytes_per_s,
      "no second takes fewer bytes than the lowest rate does");
  expect(!server::plain_wav_seconds(file + "more"), "the samples end where the file ends");
  return 0;
}
