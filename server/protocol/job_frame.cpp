#include "server/protocol/job_frame.h"

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>

#include "core/base/error.h"

namespace navtalk::server {

Frame job_start_frame(const JobStart& start) {
  nlohmann::json segments = nlohmann::json::array();
  for (const SentSegment& segment : start.segments)
    segments.push_back({{"bytes", segment.bytes}, {"record", segment.record}});
  const nlohmann::json object = {{"type", job_frame::start},
                                 {"job", start.job},
                                 {"avatar", start.avatar},
                                 {"text", start.text},
                                 {"voice", start.voice},
                                 {"options", start.options},
                                 {"format", start.format},
                                 {"audio_bytes", start.audio_bytes},
                                 {"segments", std::move(segments)},
                                 {"tells_recorded", start.tells_recorded}};
  return {.text = true, .bytes = object.dump()};
}

Frame job_recorded_frame(int segment) {
  const nlohmann::json object = {{"type", job_frame::recorded}, {"index", segment}};
  return {.text = true, .bytes = object.dump()};
}

JobStart parse_job_start(const std::string& text) {
  JobStart start;
  try {
    const nlohmann::json object = nlohmann::json::parse(text);
    if (object.at("type") != job_frame::start)
      throw Error(Code::usage, "the first frame is a job.start");
    start = {.job = object.at("job"),
             .avatar = object.at("avatar"),
             .text = object.at("text"),
             .voice = object.at("voice"),
             .options = object.at("options"),
             .format = object.at("format"),
             .audio_bytes = object.at("audio_bytes")};
    for (const nlohmann::json& segment : object.at("segments"))
      start.segments.push_back({.bytes = segment.at("bytes"), .record = segment.at("record")});
    start.tells_recorded = object.value("tells_recorded", false);  // of an older gateway
  } catch (const nlohmann::json::exception& error) {
    throw Error(Code::usage, std::string("the job.start is malformed: ") + error.what());
  }
  if (start.text.empty() == (start.audio_bytes == 0))
    throw Error(Code::usage, "a job has either a text or audio");
  if (!is_job_format(start.format)) throw Error(Code::usage, "jobs have no such video format");
  return start;
}

std::optional<nlohmann::json> parse_job_frame(const std::string& text) {
  nlohmann::json object = nlohmann::json::parse(text, nullptr, false);
  if (!object.is_object()) return std::nullopt;
  const auto type = object.find("type");
  if (type == object.end() || !type->is_string()) return std::nullopt;
  return object;
}

bool is_job_format(std::string_view format) {
  constexpr std::array<std::string_view, 6> k_formats = {"mp4",  "mov", "mkv",
                                                         "webm", "gif", "webp"};
  return std::ranges::find(k_formats, format) != k_formats.end();
}

bool valid_voice(std::string_view name) {
  constexpr std::size_t k_longest = 32;
  const auto allowed = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ||
           c == '+' || c == '_';
  };
  return !name.empty() && name.size() <= k_longest && name.front() != '-' &&
         std::all_of(name.begin(), name.end(), allowed);
}

}  // namespace navtalk::server
