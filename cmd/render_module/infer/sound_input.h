// The sound of one utterance: a file, a stream that was read into memory, or a text that was spoken;
// and the part of it that is rendered. What had to be made for it goes with this object. Private to
// the command.
#pragma once

#include <filesystem>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "cmd/render_module/infer/utterances.h"
#include "core/base/unique_fd.h"
#include "core/files/temporary_folder.h"
#include "core/media/decode/audio.h"
#include "core/media/limits.h"
#include "core/speech/subtitles.h"

namespace navtalk::cmd {

class SoundInput {
 public:
  // `options.voice` is set. Errors of speak() and decode_audio(), in the name that the user knows;
  // Error{invalid} where the sound ends before --start, and for a WAV file that was cut.
  SoundInput(const Utterance& utterance, const InferOptions& options, const MediaLimits& limits,
             const std::stop_token& stop);

  const std::filesystem::path& file() const { return file_; }
  const Audio& audio() const { return audio_; }
  Audio take_audio() { return std::move(audio_); }  // from --start on, --duration at most
  // Of a text where --subtitles asks for them, by the time of audio(); else empty.
  const std::vector<Cue>& cues() const { return cues_; }
  // A message about file() in the name that the user knows.
  std::string named(std::string message) const;

 private:
  void make_file(const Utterance& utterance, const InferOptions& options, const MediaLimits& limits,
                 const std::stop_token& stop);
  void cut(const InferOptions& options);
  void make_cues(const Utterance& utterance, const InferOptions& options,
                 const std::stop_token& stop);

  std::optional<TemporaryFolder> folder_;
  UniqueFd memory_;
  std::filesystem::path file_;
  std::string shown_;  // file_ as the user knows it
  Audio audio_;
  std::vector<Cue> cues_;
};

}  // namespace navtalk::cmd
