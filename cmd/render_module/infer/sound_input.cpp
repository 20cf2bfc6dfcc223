#include "cmd/render_module/infer/sound_input.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "core/base/error.h"
#include "core/log/log.h"
#include "core/media/speech.h"
#include "core/process/stream_input.h"
#include "core/speech/markup.h"
#include "core/speech/voices.h"
#include "core/speech/writing.h"
#include "gpu/features/mel.h"

namespace navtalk::cmd {
namespace {

// Two channels of floats at 48 kHz: a longer stream lasts longer than the limit in all but name.
constexpr double k_stream_bytes_per_s = 384'000;

std::int64_t samples_in(double seconds, int rate_hz) {
  return std::llround(seconds * static_cast<double>(rate_hz));
}

// What would be spoken otherwise than one thinks.
void warn_of_text(const std::string& text, const InferOptions& options) {
  const std::string plain = without_ssml(text);
  if (!options.ssml && plain != text)
    log::warn("the text has tags of SSML, which are left out: --ssml has them obeyed");
  const std::optional<Writing> writing = writing_of(plain);
  if (!writing || is_written_in(language_of_voice(options.voice), *writing)) return;
  log::warn(
      fmt::format("the text is mostly in {} writing, which the voice {} does not speak: "
                  "--voice {} does, and navtalk voices lists all",
                  writing->name, options.voice, writing->language));
}

}  // namespace

SoundInput::SoundInput(const Utterance& utterance, const InferOptions& options,
                       const MediaLimits& limits, const std::stop_token& stop) {
  make_file(utterance, options, limits, stop);
  try {
    audio_ = decode_audio(file_, stop, limits, k_sample_rate_hz);
  } catch (const Error& error) {
    throw Error(error.code(), named(error.message()));
  }
  if (audio_.cut)
    throw Error(Code::invalid, named(audio_.damage) + ": it was cut, so copy or record it again");
  if (!audio_.damage.empty()) {
    log::warn(fmt::format("{}; going on with the {:.2f} s that are there", named(audio_.damage),
                          audio_.duration_s()));
  }
  if (!options.subtitles.empty()) make_cues(utterance, options, stop);
  cut(options);
}

void SoundInput::make_file(const Utterance& utterance, const InferOptions& options,
                           const MediaLimits& limits, const std::stop_token& stop) {
  if (utterance.audio.empty()) {
    folder_.emplace();
    file_ = folder_->path() / "speech.wav";
    shown_ = "the spoken text";
    warn_of_text(utterance.text, options);
    speak(utterance.text, options.voice, file_, stop, options.ssml ? Markup::ssml : Markup::none);
  } else if (is_stream(utterance.audio)) {
    const double most = limits.max_duration_s * k_stream_bytes_per_s;
    memory_ = read_stream(utterance.audio, static_cast<std::int64_t>(most), stop);
    file_ = path_of_memory(memory_);
    shown_ = stream_name(utterance.audio);
  } else {
    file_ = utterance.audio;
    shown_ = file_.string();
  }
}

void SoundInput::make_cues(const Utterance& utterance, const InferOptions& options,
                           const std::stop_token& stop) {
  const double end_s = options.start_s + options.duration_s.value_or(audio_.duration_s());
  for (Cue& cue : subtitles_of(utterance.text, options.voice, audio_.duration_s(), stop)) {
    cue.start_s = std::max(cue.start_s, options.start_s) - options.start_s;
    cue.end_s = std::min(cue.end_s, end_s) - options.start_s;
    if (cue.start_s < cue.end_s) cues_.push_back(std::move(cue));
  }
}

void SoundInput::cut(const InferOptions& options) {
  const auto count = static_cast<std::int64_t>(audio_.samples.size());
  const std::int64_t first = samples_in(options.start_s, audio_.rate_hz);
  if (first >= count)
    throw Error(Code::invalid, fmt::format("--start {}: {} lasts {:.2f} s", options.start_s, shown_,
                                           audio_.duration_s()));
  std::int64_t last = count;
  if (options.duration_s)
    last = std::min(last, first + samples_in(*options.duration_s, audio_.rate_hz));
  audio_.samples.resize(static_cast<std::size_t>(last));
  audio_.samples.erase(audio_.samples.begin(), audio_.samples.begin() + first);
}

std::string SoundInput::named(std::string message) const {
  const std::string path = file_.string();
  for (std::size_t at = 0; (at = message.find(path, at)) != std::string::npos; at += shown_.size())
    message.replace(at, path.size(), shown_);
  return message;
}

}  // namespace navtalk::cmd
