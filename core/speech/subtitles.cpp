#include "core/speech/subtitles.h"

#include <fmt/format.h>

#include <cmath>
#include <cstdint>

namespace navtalk {
namespace {

std::string clock(double seconds, char mark) {
  const std::int64_t ms = std::llround(1000 * seconds);
  return fmt::format("{:02}:{:02}:{:02}{}{:03}", ms / 3'600'000, ms / 60'000 % 60, ms / 1000 % 60,
                     mark, ms % 1000);
}

std::string escaped(const std::string& text) {
  std::string safe;
  for (const char byte : text) {
    if (byte == '&') {
      safe += "&amp;";
    } else if (byte == '<') {
      safe += "&lt;";
    } else if (byte == '>') {
      safe += "&gt;";
    } else {
      safe += byte;
    }
  }
  return safe;
}

}  // namespace

std::string srt(const std::vector<Cue>& cues) {
  std::string text;
  for (std::size_t i = 0; i < cues.size(); ++i)
    text += fmt::format("{}\n{} --> {}\n{}\n\n", i + 1, clock(cues[i].start_s, ','),
                        clock(cues[i].end_s, ','), cues[i].text);
  return text;
}

std::string vtt(const std::vector<Cue>& cues) {
  std::string text = "WEBVTT\n\n";
  for (const Cue& cue : cues)
    text += fmt::format("{} --> {}\n{}\n\n", clock(cue.start_s, '.'), clock(cue.end_s, '.'),
                        escaped(cue.text));
  return text;
}

}  // namespace navtalk
