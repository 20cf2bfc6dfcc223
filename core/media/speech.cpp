#include "core/media/speech.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <string_view>
#include <utility>

#include "core/base/error.h"
#include "core/files/whole_file.h"
#include "core/media/decode/audio.h"
#include "core/process/run.h"
#include "core/process/stream_input.h"
#include "core/speech/espeak.h"
#include "core/speech/markup.h"
#include "core/speech/sentences.h"
#include "core/speech/spoken_length.h"
#include "core/speech/voices.h"

namespace navtalk {
namespace {

// A WAV file. It goes to memory, so that a full disk is found by us: espeak-ng does not look.
std::string wav_of(const std::string& text, const std::string& voice, const std::stop_token& stop,
                   Markup markup) {
  const UniqueFd sound = memory_file();
  check_espeak(speak_into(sound, text, voice, markup, stop));
  return content_of(sound);
}

double spoken_seconds(const std::string& text, const std::string& voice,
                      const std::stop_token& stop) {
  const UniqueFd sound = memory_file(wav_of(text, voice, stop, Markup::none));
  try {
    return decode_audio(path_of_memory(sound), stop).duration_s();
  } catch (const Error& error) {
    if (error.code() != Code::invalid) throw;
    return 0;  // nothing that is spoken: a part of dashes, for example
  }
}

// Lengths in proportion to `spoken`, which together last `whole_s`.
std::vector<double> scaled(std::vector<double> spoken, double whole_s) {
  const double sum = std::accumulate(spoken.begin(), spoken.end(), 0.0);
  for (double& length : spoken) length *= sum > 0 ? whole_s / sum : 0;
  return spoken;
}

std::vector<double> lengths_of(const std::vector<std::string>& pieces, const std::string& voice,
                               double whole_s, const std::stop_token& stop) {
  if (pieces.size() == 1) return {whole_s};
  std::vector<double> spoken;
  for (const std::string& piece : pieces) spoken.push_back(spoken_seconds(piece, voice, stop));
  return scaled(std::move(spoken), whole_s);
}

std::string in_lines(const std::string& part) {
  constexpr std::size_t k_line = 42;
  return fmt::format("{}", fmt::join(lines_of(part, k_line), "\n"));
}

}  // namespace

bool is_silent(std::span<const float> samples) {
  return std::ranges::all_of(samples,
                             [](float sample) { return std::abs(sample) < k_quietest_speech; });
}

void speak(const std::string& text, const std::string& voice, const std::filesystem::path& output,
           const std::stop_token& stop, Markup markup) {
  check_voice_variant(voice, stop);
  const std::string wav = wav_of(text, voice, stop, markup);
  if (!wav.empty())
    write_file(output, {reinterpret_cast<const std::uint8_t*>(wav.data()), wav.size()});
  if (wav.empty() || is_silent(decode_audio(output, stop).samples)) {
    std::error_code ignored;
    std::filesystem::remove(output, ignored);
    throw Error(Code::invalid, "the text holds nothing that can be spoken");
  }
}

std::vector<Cue> subtitles_of(const std::string& text, const std::string& voice, double duration_s,
                              const std::stop_token& stop) {
  constexpr std::size_t k_part = 76;  // two lines, and words that do not fit
  const std::vector<std::string> sentences = sentences_of(without_ssml(text));
  const std::vector<double> lengths_s = lengths_of(sentences, voice, duration_s, stop);
  std::vector<Cue> cues;
  double at_s = 0;
  for (std::size_t i = 0; i < sentences.size(); ++i) {
    const std::vector<std::string> parts = parts_of(sentences[i], k_part);
    const std::vector<double> parts_s = lengths_of(parts, voice, lengths_s[i], stop);
    for (std::size_t k = 0; k < parts.size(); ++k) {
      if (parts_s[k] > 0)
        cues.push_back({.start_s = at_s, .end_s = at_s + parts_s[k], .text = in_lines(parts[k])});
      at_s += parts_s[k];
    }
  }
  return cues;
}

}  // namespace navtalk
