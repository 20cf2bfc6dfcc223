#include "cmd/bench/serve/speech.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <optional>
#include <string>
#include <string_view>

#include "core/base/error.h"
#include "core/files/whole_file.h"
#include "core/process/run.h"

namespace navtalk::cmd {
namespace {

using Bytes = std::span<const std::uint8_t>;

constexpr int k_least_rate_hz = 8000, k_largest_rate_hz = 48000;
constexpr std::uint16_t k_pcm = 1;
constexpr const char* k_text =
    "The quick brown fox jumps over the lazy dog, while the judge waits at the open window. "
    "Please speak slowly: we measure how long a word takes from the microphone to the lips. "
    "Ten boats passed the bridge before noon, and every one of them carried a load of wood.";

template <class Number>
Number number_at(Bytes bytes, std::size_t at) {
  Number number{};
  if (at + sizeof number > bytes.size()) throw Error(Code::invalid, "the WAV file is truncated");
  std::memcpy(&number, bytes.data() + at, sizeof number);
  return number;
}

// What a RIFF chunk of that name holds; nullopt: there is none.
std::optional<Bytes> chunk_of(Bytes bytes, std::string_view name) {
  constexpr std::size_t k_riff = 12, k_head = 8;
  for (std::size_t at = k_riff; at + k_head <= bytes.size();) {
    const std::size_t length = number_at<std::uint32_t>(bytes, at + 4);
    const std::size_t content = at + k_head;
    if (std::memcmp(bytes.data() + at, name.data(), 4) == 0)
      return bytes.subspan(content, std::min(length, bytes.size() - content));
    at = content + length + length % 2;
  }
  return std::nullopt;
}

}  // namespace

Speech parse_wav(Bytes bytes) {
  if (bytes.size() < 12 || std::memcmp(bytes.data(), "RIFF", 4) != 0 ||
      std::memcmp(bytes.data() + 8, "WAVE", 4) != 0) {
    throw Error(Code::invalid, "not a WAV file");
  }
  const std::optional<Bytes> format = chunk_of(bytes, "fmt ");
  const std::optional<Bytes> data = chunk_of(bytes, "data");
  if (!format || !data) throw Error(Code::invalid, "the WAV file has no sound");
  const auto coding = number_at<std::uint16_t>(*format, 0);
  const auto channels = number_at<std::uint16_t>(*format, 2);
  const auto rate = number_at<std::uint32_t>(*format, 4);
  const auto bits = number_at<std::uint16_t>(*format, 14);
  if (coding != k_pcm || channels != 1 || bits != 16) {
    throw Error(Code::invalid,
                "the WAV file must be PCM with one channel of 16 bits (ffmpeg -i IN -ac 1 -c:a "
                "pcm_s16le OUT.wav)");
  }
  if (rate < k_least_rate_hz || rate > k_largest_rate_hz) {
    throw Error(Code::invalid, fmt::format("a session takes {} to {} Hz, and the WAV file has {}",
                                           k_least_rate_hz, k_largest_rate_hz, rate));
  }
  Speech speech{.rate_hz = static_cast<int>(rate)};
  speech.samples.resize(data->size() / sizeof(std::int16_t));
  if (speech.samples.empty()) throw Error(Code::invalid, "the WAV file has no sound");
  std::memcpy(speech.samples.data(), data->data(), speech.samples.size() * sizeof(std::int16_t));
  return speech;
}

Speech read_wav(const std::filesystem::path& file) {
  const std::vector<std::uint8_t> bytes = read_file(file);
  try {
    return parse_wav(bytes);
  } catch (const Error& error) {
    throw error.within(file.native());
  }
}

Speech spoken_sample(const std::stop_token& stop) {
  const std::optional<RunResult> result = run_program(
      {.command = {"espeak-ng", "-v", "en-us+f3", "--stdin", "--stdout"}, .input = k_text}, stop);
  if (!result) {
    throw Error(
        Code::not_found,
        "espeak-ng, which speaks the bench's text, is not installed: apt install espeak-ng, "
        "or give --audio FILE");
  }
  if (result->exit_status != 0)
    throw Error(Code::failed, fmt::format("espeak-ng ended with status {}", result->exit_status));
  const std::string& wav = result->output;
  return parse_wav({reinterpret_cast<const std::uint8_t*>(wav.data()), wav.size()});
}

}  // namespace navtalk::cmd
