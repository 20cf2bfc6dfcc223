#include "core/media/speech.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string_view>

#include "core/base/error.h"
#include "core/files/whole_file.h"
#include "core/media/decode/audio.h"
#include "core/process/run.h"

namespace navtalk {
namespace {

// espeak-ng gives digital silence for text that it cannot speak; speech peaks near 1.
constexpr float k_quietest_speech = 0.01F;

RunResult espeak(std::vector<std::string> arguments, const std::string& input,
                 const UniqueFd* sound, const std::stop_token& stop) {
  arguments.insert(arguments.begin(), "espeak-ng");
  std::optional<RunResult> result =
      run_program({.command = std::move(arguments), .input = input, .extra = sound}, stop);
  if (!result)
    throw Error(Code::not_found,
                "speaking text needs espeak-ng, which is not installed: apt install espeak-ng");
  return *std::move(result);
}

// espeak-ng takes an unknown variant (the part behind "+") for none and says nothing; it also
// takes numbers. Each line of its list ends with the variant's file, such as "!v/f3".
void check_variant(const std::string& voice, const std::stop_token& stop) {
  const std::size_t plus = voice.find('+');
  if (plus == std::string::npos) return;
  const std::string variant = voice.substr(plus + 1);
  const auto is_digit = [](char c) { return c >= '0' && c <= '9'; };
  if (!variant.empty() && std::all_of(variant.begin(), variant.end(), is_digit)) return;
  const RunResult list = espeak({"--voices=variant"}, "", nullptr, stop);
  if (list.exit_status != 0)
    throw Error(Code::failed, fmt::format("espeak-ng --voices=variant ended with status {}: {}",
                                          list.exit_status, list.errors));
  const std::string& known = list.output;
  for (const char* end : {" ", "\n"}) {
    if (!variant.empty() && known.find("!v/" + variant + end) != std::string::npos) return;
  }
  throw Error(Code::not_found, "espeak-ng has no voice variant \"" + variant + "\" (of \"" + voice +
                                   "\"): see espeak-ng --voices=variant");
}

std::string first_line(std::string_view text) {
  return std::string(text.substr(0, text.find('\n')));
}

bool is_silent(const Audio& audio) {
  return std::all_of(audio.samples.begin(), audio.samples.end(),
                     [](float sample) { return std::abs(sample) < k_quietest_speech; });
}

}  // namespace

void speak(const std::string& text, const std::string& voice, const std::filesystem::path& output,
           const std::stop_token& stop) {
  check_variant(voice, stop);
  const UniqueFd sound = memory_file();
  // -b 1: the text is UTF-8, whatever the locale. The WAV goes to memory, so that a full disk is
  // found by us: espeak-ng does not look.
  const RunResult result =
      espeak({"-b", "1", "-v", voice, "--stdin", "-w", "/proc/self/fd/3"}, text, &sound, stop);
  if (result.errors.find("voice does not exist") != std::string::npos)
    throw Error(Code::not_found,
                "espeak-ng has no voice \"" + voice + "\": see espeak-ng --voices");
  if (result.exit_status != 0)
    throw Error(Code::failed, "espeak-ng failed with status " + std::to_string(result.exit_status) +
                                  ": " + first_line(result.errors));
  const std::string wav = content_of(sound);
  if (!wav.empty())
    write_file(output, {reinterpret_cast<const std::uint8_t*>(wav.data()), wav.size()});
  if (wav.empty() || is_silent(decode_audio(output, stop))) {
    std::error_code ignored;
    std::filesystem::remove(output, ignored);
    throw Error(Code::invalid, "the text holds nothing that can be spoken");
  }
}

}  // namespace navtalk
