// Frames between a gateway and the worker that renders a job (docs/protocol.md): JSON text with a "type";
// a file follows its frame, whose "bytes" count it, in binary frames of at most k_file_piece.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "server/http/socket/frame.h"

namespace navtalk::server {

namespace job_frame {
// From the gateway; recorded: a segment is in the store, and the next may be rendered.
inline constexpr std::string_view start = "job.start", recorded = "job.recorded";
// From the worker; all of them are heartbeats of its work loop.
inline constexpr std::string_view measured = "job.measured", progress = "job.progress",
                                  segment = "job.segment", result = "job.result",
                                  failed = "job.failed";
}  // namespace job_frame

// Code of a job.failed: the worker's GPU has no memory for the rest of a job whose finished segments a GPU has rendered. No try is lost.
inline constexpr std::string_view k_no_memory = "memory";

inline constexpr std::size_t k_file_piece = 256 << 10;  // bytes
// A text, the options and the records of segments fit in.
inline constexpr std::size_t k_longest_job_frame = 1 << 20;  // bytes

struct SentSegment {
  std::uint64_t bytes = 0;
  std::string record{};  // as the worker gave it
};

// job.start: the audio's file follows, then those of the segments that are finished, in order.
struct JobStart {
  std::string job{};  // its id, for logs
  std::string avatar{}, text{}, voice{};
  std::map<std::string, std::string> options{};  // of the video
  std::string format = "mp4";
  std::uint64_t audio_bytes = 0;  // 0: the text is spoken
  std::vector<SentSegment> segments{};
  bool tells_recorded = false;  // a job.recorded follows each segment
};

Frame job_start_frame(const JobStart& start);
Frame job_recorded_frame(int segment);
// Error{usage} for text that is no job.start, and for what does not go together.
JobStart parse_job_start(const std::string& text);
// The object, when the text is a JSON object with a "type" that is a string; nullopt otherwise.
std::optional<nlohmann::json> parse_job_frame(const std::string& text);

// Endings of videos that jobs can have.
bool is_job_format(std::string_view format);
// Names of the synthesiser's voices; "mb-" names belong to another program.
bool valid_voice(std::string_view name);

}  // namespace navtalk::server
