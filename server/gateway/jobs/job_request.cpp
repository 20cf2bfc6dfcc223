#include "server/gateway/jobs/job_request.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>
#include <cstring>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <span>

#include "core/base/frame_rate.h"
#include "core/checkpoint/checkpoint.h"
#include "core/net/url.h"
#include "core/text/bounded_json.h"
#include "core/text/printable.h"
#include "server/gateway/jobs/multipart.h"
#include "server/protocol/job_frame.h"

namespace navtalk::server {
namespace {

constexpr std::size_t k_longest_text = 100'000;  // bytes
constexpr std::size_t k_longest_key = 200;
constexpr std::size_t k_longest_json = 1 << 20;  // bytes, the text escaped in any way
constexpr int k_deepest_json = 16;
constexpr std::size_t k_longest_avatar = 64;  // as avatars have it
constexpr std::size_t k_longest_url = 2048;   // lists read them
constexpr int k_highest_priority = 100;
constexpr FrameRate k_highest_fps = 240;  // as infer has it
// As core/media/encode/video_format.h has them, for GIF and WebP.
constexpr FrameRate k_fastest_gif = 50;
constexpr double k_longest_pictures_s = 60;
// Guesses until the speech is decoded.
constexpr double k_spoken_bytes_per_s = 14;
constexpr double k_coded_bytes_per_s = 16'000;
constexpr double k_least_duration_s = 0.04;

[[noreturn]] void refuse(const std::string& what) { throw Error(Code::usage, what); }

std::string shown(const std::string& text) {
  return fmt::format("'{}'", printable_start(text, 64));
}

// Members of one object, each asked for by its name; what nobody asks for is a mistake of the sender.
class Members {
 public:
  Members(const nlohmann::json& object, std::string path)
      : object_(object), path_(std::move(path)) {
    if (!object.is_object()) refuse((path_.empty() ? "the job" : path_) + " is not a JSON object");
  }

  std::string text(const char* name) {
    const nlohmann::json* value = find(name);
    if (value == nullptr) return "";
    if (!value->is_string()) refuse(named(name) + " is a string");
    std::string found = value->get<std::string>();
    if (found.find('\0') != std::string::npos) refuse(named(name) + " has a NUL character");
    return found;
  }
  bool yes(const char* name) {
    const nlohmann::json* value = find(name);
    if (value == nullptr) return false;
    if (!value->is_boolean()) refuse(named(name) + " is true or false");
    return value->get<bool>();
  }
  std::optional<double> number(const char* name, double least, double most) {
    const nlohmann::json* value = find(name);
    if (value == nullptr) return std::nullopt;
    const double found = value->is_number() ? value->get<double>() : std::nan("");
    if (!(found >= least && found <= most))
      refuse(fmt::format("{} is a number from {} to {}", named(name), least, most));
    return found;
  }
  std::optional<int> integer(const char* name, int least, int most) {
    const auto found = number(name, least, most);
    if (!found) return std::nullopt;
    if (std::floor(*found) < *found) refuse(named(name) + " is a whole number");
    return static_cast<int>(*found);
  }
  const nlohmann::json* find(const char* name) {
    asked_.insert(name);
    const auto found = object_.find(name);
    return found == object_.end() || found->is_null() ? nullptr : &*found;
  }
  void refuse_others() const {
    for (const auto& [name, value] : object_.items()) {
      if (!asked_.contains(name)) refuse("there is no member " + shown(named(name)));
    }
  }

 private:
  std::string named(const std::string& name) const {
    return path_.empty() ? name : path_ + "." + name;
  }

  const nlohmann::json& object_;
  const std::string path_;
  std::set<std::string> asked_;
};

// A rational frame rate has a text, such as "30000/1001". Other values than texts and numbers may be of any depth.
std::string frame_rate(const nlohmann::json& value) {
  std::string given = value.is_number() ? value.dump() : value.type_name();
  if (value.is_string()) given = value.get<std::string>();
  const std::optional<FrameRate> rate = parse_frame_rate(given);
  if (!rate || *rate < 1 || *rate > k_highest_fps)
    refuse(fmt::format("output.fps is a rate from 1 to {}, such as 25 or \"30000/1001\", not {}",
                       text(k_highest_fps), shown(given)));
  return given;
}

void read_output(const nlohmann::json& object, nlohmann::json& options) {
  Members output(object, "output");
  nlohmann::json& video = options["video"];
  const std::string format = output.text("format");
  if (!format.empty()) {
    if (!is_job_format(format))
      refuse("output.format is mp4, mov, mkv, webm, gif or webp, not " + shown(format));
    options["format"] = format;
  }
  if (const nlohmann::json* fps = output.find("fps")) video["fps"] = frame_rate(*fps);
  if (const auto width = output.integer("width", 16, 7680)) video["size"] = std::to_string(*width);
  if (const auto crf = output.number("crf", 0, 51)) video["crf"] = fmt::format("{}", *crf);
  if (const auto rate = output.integer("bitrate", 10, 500'000))
    video["bitrate"] = std::to_string(*rate);
  if (const auto amount = output.number("sharpen", 0, 10))
    video["sharpen"] = fmt::format("{}", *amount);
  if (output.yes("match_colour")) video["match-colour"] = "true";
  const std::string subtitles = output.text("subtitles");
  if (!subtitles.empty() && subtitles != "burn")
    refuse("output.subtitles is \"burn\", not " + shown(subtitles));
  if (!subtitles.empty()) video["subtitles"] = subtitles;
  output.refuse_others();
}

std::uint32_t number_at(std::string_view bytes, std::size_t at, std::size_t size) {
  std::uint32_t number = 0;
  std::memcpy(&number, bytes.data() + at, size);
  return number;
}

// What its samples take; its header may say anything about that.
double bytes_per_second(std::string_view audio) {
  constexpr std::size_t k_header = 44, k_channels_at = 22, k_rate_at = 24, k_bits_at = 34;
  const bool is_wav =
      audio.size() > k_header && audio.starts_with("RIFF") && audio.substr(8, 8) == "WAVEfmt ";
  if (!is_wav) return k_coded_bytes_per_s;
  const double rate = 1.0 * number_at(audio, k_rate_at, 4) * number_at(audio, k_channels_at, 2) *
                      number_at(audio, k_bits_at, 2) / 8;
  return rate >= 4'000 ? rate : k_coded_bytes_per_s;
}

// What is rendered of so many seconds of speech. Never nothing, which would not be settled once it is measured.
VideoMinutes work_of(double seconds, const JobRequest& asked) {
  seconds = std::max(k_least_duration_s, seconds - asked.start_s);
  return VideoMinutes(from_seconds(std::min(seconds, asked.duration_s.value_or(seconds))));
}

void check_url(const char* member, const std::string& url) {
  if (url.empty()) return;
  if (url.size() > k_longest_url)
    refuse(fmt::format("{} is longer than {} bytes", member, k_longest_url));
  try {
    parse_http_url(url);
  } catch (const Error& error) {
    throw error.within(member);
  }
}

// One of the three.
void check_speech(const JobRequest& asked, const nlohmann::json& video) {
  const std::string& text = asked.job.spec.text;
  const bool has_audio = !asked.audio.empty() || !asked.audio_url.empty();
  if (text.empty() && !has_audio && asked.has_empty_audio)
    refuse("the part 'audio' of the form is empty");
  if (text.empty() && !has_audio)
    refuse("the job has neither a text, nor the part 'audio' of a form, nor audio_url");
  if (!text.empty() && has_audio) refuse("the job has a text and audio: leave one of them out");
  if (!asked.audio.empty() && !asked.audio_url.empty())
    refuse("the job has the part 'audio' and audio_url: leave one of them out");
  if (has_audio && (video.contains("ssml") || video.contains("subtitles")))
    refuse("ssml and output.subtitles need a text");
  check_url("audio_url", asked.audio_url);
}

// Of the part of so many seconds of speech that is rendered. Without a rate of its own a video has the avatar's, which is
// hardly lower than 25.
void refuse_shorter_than_a_frame(const JobRequest& asked, double seconds) {
  constexpr double k_rounding = 1e-6;
  const double part_s = std::min(seconds - asked.start_s, asked.duration_s.value_or(seconds));
  const auto options = video_choice(asked.job.spec).options;
  const auto fps = options.find("fps");
  const double frame_s =
      fps == options.end() ? k_least_duration_s : parse_frame_rate(fps->second).value().seconds(1);
  if (part_s < frame_s * (1 - k_rounding))
    refuse(
        fmt::format("the speech lasts {:.4f} s where the video begins, which is shorter than "
                    "one frame of {:.4f} s",
                    std::max(0.0, part_s), frame_s));
}

bool is_pictures(std::string_view format) { return format == "gif" || format == "webp"; }

// What infer refuses: a job that is accepted is one that can be rendered.
void check_output(const JobRequest& asked, const nlohmann::json& options) {
  const std::string format = options.at("format");
  const nlohmann::json& video = options.at("video");
  const bool crf = video.contains("crf"), bitrate = video.contains("bitrate");
  if (crf && bitrate) refuse("output.crf and output.bitrate exclude each other: leave one out");
  if (is_pictures(format) && (crf || bitrate))
    refuse("output.crf and output.bitrate are for mp4, mov, mkv and webm, not " + shown(format));
  if (video.contains("ssml") && video.contains("subtitles"))
    refuse("output.subtitles needs a text without ssml: its words are what is shown");
  if (!video.contains("fps")) return;
  const FrameRate fps = parse_frame_rate(video.at("fps").get<std::string>()).value();
  if (format == "gif" && fps > k_fastest_gif)
    refuse(fmt::format("output.fps is {} at most for a gif", text(k_fastest_gif)));
  if (asked.duration_s && *asked.duration_s < fps.seconds(1))
    refuse(fmt::format("duration {} s is shorter than one frame", *asked.duration_s));
}

void read_job(const nlohmann::json& object, JobRequest& into) {
  Members members(object, "");
  JobSpec& spec = into.job.spec;
  nlohmann::json options = {{"format", "mp4"}, {"video", nlohmann::json::object()}};
  spec.avatar = members.text("avatar");
  if (spec.avatar.empty()) refuse("avatar is missing: the id of the avatar that speaks");
  if (spec.avatar.size() > k_longest_avatar)
    refuse(fmt::format("avatar is longer than {} bytes", k_longest_avatar));
  spec.text = members.text("text");
  spec.voice = members.text("voice");
  if (spec.text.size() > k_longest_text)
    refuse(fmt::format("text is longer than {} bytes", k_longest_text));
  constexpr std::string_view k_blanks = " \t\r\n\f\v";
  if (!spec.text.empty() && spec.text.find_first_not_of(k_blanks) == std::string::npos)
    refuse("text has nothing but blanks");
  if (!spec.voice.empty() && !valid_voice(spec.voice))
    refuse("voice is a name such as en-us+f3, not " + shown(spec.voice));
  spec.priority = members.integer("priority", -k_highest_priority, k_highest_priority).value_or(0);
  if (const nlohmann::json* output = members.find("output")) read_output(*output, options);
  nlohmann::json& video = options["video"];
  if (members.yes("ssml")) video["ssml"] = "true";
  if (const auto start = members.number("start", 0, 86'400)) {
    into.start_s = *start;
    video["start"] = fmt::format("{}", *start);
  }
  into.duration_s = members.number("duration", k_least_duration_s, 86'400);
  if (into.duration_s) video["duration"] = fmt::format("{}", *into.duration_s);
  into.audio_url = members.text("audio_url");
  spec.webhook = members.text("webhook");
  check_url("webhook", spec.webhook);
  members.refuse_others();
  check_speech(into, video);
  check_output(into, options);
  guess_work(into);
  if (!into.audio.empty()) take_audio(into, into.audio);
  spec.options = options.dump();
}

nlohmann::json parsed(std::string_view text) {
  using Why = JsonRefusal::Why;
  auto parsed =
      parse_bounded(text, {.bytes = k_longest_json, .levels = k_deepest_json, .unique_keys = true});
  if (auto* value = std::get_if<nlohmann::json>(&parsed)) return std::move(*value);
  const auto& [why, detail] = std::get<JsonRefusal>(parsed);
  if (why == Why::too_large)
    refuse(fmt::format("the job is JSON of {} bytes at most, not {}", k_longest_json, text.size()));
  if (why == Why::too_deep)
    refuse(fmt::format("the job is nested deeper than {} levels", k_deepest_json));
  if (why == Why::repeated_key) refuse("the job has the member " + shown(detail) + " twice");
  refuse("the job is not valid JSON");
}

// The part 'job' of a form, whose part 'audio' is the job's.
std::string_view job_of_form(std::string_view type, std::string_view body, JobRequest& into) {
  std::optional<std::string_view> job, audio;
  for (const FormPart& part : parse_form(type, body)) {
    if (part.name != "audio" && part.name != "job")
      refuse("there is no part " + shown(part.name) + " of the form: its parts are job and audio");
    auto& content = part.name == "audio" ? audio : job;
    if (content) refuse(fmt::format("the form has the part '{}' twice", part.name));
    content = part.content;
  }
  if (!job || job->empty()) refuse("the form lacks the part 'job', a JSON object");
  into.has_empty_audio = audio && audio->empty();
  into.audio = audio.value_or("");
  return *job;
}

bool is_form(std::string_view type) {
  constexpr std::string_view k_form = "multipart/form-data;";
  const auto same = [](char a, char b) { return std::tolower(static_cast<unsigned char>(a)) == b; };
  return std::ranges::equal(type.substr(0, k_form.size()), k_form, same);
}

}  // namespace

JobRequest parse_job_request(const Request& request) {
  JobRequest asked;
  const std::string type = request.header("content-type").value_or("");
  const std::string_view job =
      is_form(type) ? job_of_form(type, request.body, asked) : std::string_view(request.body);
  read_job(parsed(job), asked);
  asked.job.key = request.header("idempotency-key").value_or("");
  if (asked.job.key.size() > k_longest_key)
    refuse(fmt::format("the header Idempotency-Key is longer than {} bytes", k_longest_key));
  // What a database keeps, and what a log shows, as it came.
  const auto printable_ascii = [](char c) { return c >= ' ' && c <= '~'; };
  if (!std::ranges::all_of(asked.job.key, printable_ascii))
    refuse("the header Idempotency-Key has other characters than printable ASCII");
  return asked;
}

std::string request_digest(const JobRequest& request) {
  const JobSpec& spec = request.job.spec;
  const auto digest = [](std::string_view bytes) {
    return sha256(std::as_bytes(std::span(bytes)));
  };
  return digest(nlohmann::json{{"avatar", spec.avatar},
                               {"text", spec.text},
                               {"voice", spec.voice},
                               {"options", spec.options},
                               {"priority", spec.priority},
                               {"webhook", spec.webhook},
                               {"audio_url", request.audio_url},
                               {"audio", request.audio.empty() ? "" : digest(request.audio)}}
                    .dump());
}

void guess_work(JobRequest& request) {
  const auto bytes = static_cast<double>(request.job.spec.text.size());
  request.job.work = work_of(bytes / k_spoken_bytes_per_s, request);
  request.job.estimated = true;
}

void take_audio(JobRequest& request, std::string_view audio) {
  request.audio = audio;
  request.job.work = work_of(static_cast<double>(audio.size()) / bytes_per_second(audio), request);
}

void take_measured(JobRequest& request, double seconds) {
  if (request.start_s >= seconds && request.start_s > 0)
    refuse(fmt::format("start {} s is behind the end of the speech, which lasts {:.2f} s",
                       request.start_s, seconds));
  refuse_shorter_than_a_frame(request, seconds);
  request.job.work = work_of(seconds, request);
  request.job.estimated = false;
  const double rendered_s = request.job.work.count() * 60;
  const std::string format = video_choice(request.job.spec).format;
  if (is_pictures(format) && rendered_s > k_longest_pictures_s + k_least_duration_s)
    refuse(
        fmt::format("the speech lasts {:.1f} s, a {} {:.0f} s at most: ask for mp4 or webm, or "
                    "for a part of it with duration",
                    rendered_s, format, k_longest_pictures_s));
}

VideoChoice video_choice(const JobSpec& spec) {
  const nlohmann::json options = nlohmann::json::parse(spec.options);
  return {.format = options.value("format", "mp4"),
          .options = options.value("video", std::map<std::string, std::string>{})};
}

}  // namespace navtalk::server
