// Judges speech before its job is accepted: its codec, how long it is, that it is whole, and that decoding it takes no more
// than it may; and texts: that there is such a voice, and how long they are spoken. A process of its own decodes or speaks,
// `navtalk job probe`, which can do little else. Blocks; thread-safe.
#pragma once

#include <chrono>
#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <set>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/guarded.h"

namespace navtalk::server {

struct SpeechProbeOptions {
  // The program and its arguments, behind which stands the file's name; empty: speech is not judged.
  std::vector<std::string> command{};
  double max_duration_s = 3'600;  // of speech that needs no decoder; the command has its own
  std::chrono::milliseconds patience{180'000};  // then the machine is too slow
};

// That decoding so many seconds of speech may take; most formats take a fifth of it.
inline std::chrono::seconds most_processor_time(double speech_s) {
  return std::chrono::seconds(30 + static_cast<int>(speech_s / 100));
}

struct JobText {
  std::string text{};
  std::string voice{};         // empty: the avatar's
  std::string avatar_voice{};  // empty: not known here
  bool ssml = false;
};

class SpeechProbe {
 public:
  explicit SpeechProbe(SpeechProbeOptions options) : options_(std::move(options)) {}

  bool enabled() const { return !options_.command.empty(); }
  // Seconds of speech. Error{invalid} names the rule that refuses it: `codec`, `duration`, `sampling`, `decoding`, `length`.
  // Error{failed}: this machine cannot tell now, or the probe was stopped.
  double measure(std::string_view speech) const;
  // The same of speech whose length is known without a decoder, as plain_wav_seconds(); does not block.
  double check_duration(double seconds) const;
  // Error{invalid} with the rule `length` for a recording that is cut, as cut_wav(); does not block.
  static void check_whole(std::string_view speech);

  // What is known of a text without speaking it; does not block.
  bool knows(const JobText& text) const;
  // Seconds of the text as speech; nullopt: nobody had to speak it, the avatar's voice is asked for and not known, or espeak-ng
  // is not here or fails at the text; the worker judges it.
  // Error{invalid} names the rule `voice`, `duration` or `silence`; Error{failed} as above.
  std::optional<double> speak(const JobText& text) const;
  // For good: processes that run are killed, and none starts any more.
  void stop() { stop_.request_stop(); }

 private:
  std::vector<std::string> command_of(const JobText& text) const;
  bool may_be_long(const JobText& text) const;
  static bool may_be_silent(const JobText& text);
  // What was sent, which messages name.
  enum class Kind : std::uint8_t { speech, text };
  static std::string_view name_of(Kind kind);
  nlohmann::json found_by(const std::vector<std::string>& command, std::string_view input,
                          Kind kind) const;
  double seconds_of(const nlohmann::json& found, Kind kind) const;
  double check_duration(double seconds, Kind kind) const;
  // Without asking espeak-ng.
  bool takes_voice(const std::string& voice) const;
  void check_voice(const std::string& voice) const;

  const SpeechProbeOptions options_;
  mutable Guarded<std::set<std::string>> voices_{};  // that espeak-ng has
  std::stop_source stop_;
};

}  // namespace navtalk::server
