// Subtitles as files. Stateless.
#pragma once

#include <string>
#include <vector>

namespace navtalk {

struct Cue {
  double start_s = 0, end_s = 0;
  std::string text;  // UTF-8; "\n" between its lines
};

// SubRip: "00:00:01,250 --> 00:00:03,000".
std::string srt(const std::vector<Cue>& cues);
// WebVTT; "<", ">" and "&" of the texts are escaped.
std::string vtt(const std::vector<Cue>& cues);

}  // namespace navtalk
