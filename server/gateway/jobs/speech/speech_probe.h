// Judges speech before its job is accepted: its codec, how long it is, and that decoding it takes no more than it may.
// A process of its own decodes it, `navtalk job probe`, which can do nothing else. Blocks; thread-safe.
#pragma once

#include <chrono>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

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

class SpeechProbe {
 public:
  explicit SpeechProbe(SpeechProbeOptions options) : options_(std::move(options)) {}

  bool enabled() const { return !options_.command.empty(); }
  // Seconds of speech. Error{invalid} names the rule that refuses it: `codec`, `duration`, `sampling`, `decoding`.
  // Error{failed}: this machine cannot tell now, or the probe was stopped.
  double measure(std::string_view speech) const;
  // The same of speech whose length is known without a decoder, as plain_wav_seconds(); does not block.
  double check_duration(double seconds) const;
  // For good: processes that run are killed, and none starts any more.
  void stop() { stop_.request_stop(); }

 private:
  const SpeechProbeOptions options_;
  std::stop_source stop_;
};

}  // namespace navtalk::server
