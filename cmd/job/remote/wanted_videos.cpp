#include "cmd/job/remote/wanted_videos.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <string_view>

#include "cmd/job/cells.h"
#include "cmd/job/csv_file.h"
#include "cmd/job/folder_list.h"
#include "core/files/whole_file.h"
#include "core/process/run.h"
#include "core/process/stream_input.h"
#include "core/text/number.h"
#include "core/text/printable.h"

namespace navtalk::cmd {
namespace {

namespace fs = std::filesystem;

constexpr std::int64_t k_longest_list = 256'000'000;
constexpr std::array<std::string_view, 15> k_list_columns = {
    "avatar", "audio", "text", "voice",   "output",    "ssml",    "start",       "duration",
    "fps",    "size",  "crf",  "bitrate", "subtitles", "sharpen", "match-colour"};

nlohmann::json number(const std::string& column, const std::string& text) {
  const auto found = parse_number<double>(text);
  if (!found) throw Error(Code::invalid, column + " is '" + printable(text) + "', not a number");
  if (*found >= 0 && *found < 1e9 && std::floor(*found) >= *found)
    return static_cast<std::int64_t>(*found);
  return *found;
}

std::string format_of(const WantedVideos& wanted) {
  return wanted.format.empty() ? "mp4" : wanted.format;
}

// The gateway judges the values.
nlohmann::json job_of(const Cells& cells, const WantedVideos& wanted) {
  nlohmann::json job = {
      {"avatar", cells.contains("avatar") ? cell(cells, "avatar") : wanted.avatar}};
  if (wanted.priority != 0) job["priority"] = wanted.priority;
  if (!wanted.webhook.empty()) job["webhook"] = wanted.webhook;
  nlohmann::json output = {{"format", format_of(wanted)}};
  const auto put = [&](nlohmann::json& into, const char* name, const char* column,
                       const std::string& other) {
    const std::string text = cells.contains(column) ? cell(cells, column) : other;
    if (!text.empty()) into[name] = text;
  };
  put(job, "text", "text", "");
  put(job, "voice", "voice", wanted.voice);
  put(output, "fps", "fps", wanted.fps);
  put(output, "subtitles", "subtitles", "");
  const std::string size = cells.contains("size") ? cell(cells, "size") : wanted.size;
  if (!size.empty()) output["width"] = number("size", size);
  for (const char* column : {"crf", "bitrate", "sharpen"}) {
    if (cells.contains(column)) output[column] = number(column, cell(cells, column));
  }
  for (const char* column : {"start", "duration"}) {
    if (cells.contains(column)) job[column] = number(column, cell(cells, column));
  }
  if (cells.contains("ssml")) job["ssml"] = is_set(cells, "ssml");
  if (cells.contains("match-colour")) output["match_colour"] = is_set(cells, "match-colour");
  if (cells.contains("output")) {
    const std::string format = format_of_name(cell(cells, "output"));
    if (!format.empty()) output["format"] = format;
  }
  job["output"] = std::move(output);
  return job;
}

WantedVideo video_of(const Cells& cells, const WantedVideos& wanted, const fs::path& inputs) {
  WantedVideo video{.job = job_of(cells, wanted)};
  if (video.job.at("avatar") == "")
    throw Error(Code::invalid, "has no avatar: give it one, or all rows with --avatar");
  if (cells.contains("audio") == cells.contains("text"))
    throw Error(Code::invalid, cells.contains("text") ? "has audio and text: leave one of them out"
                                                      : "has neither audio nor text");
  const std::string audio = cells.contains("audio") ? cell(cells, "audio") : "";
  if (audio.starts_with("https://") || audio.starts_with("http://")) {
    video.job["audio_url"] = audio;
  } else if (!audio.empty()) {
    video.audio = inputs / audio;
    open_input(video.audio);
  }
  video.output = cell(cells, "output");
  video.format_asked = !wanted.format.empty() || !format_of_name(video.output).empty();
  return video;
}

std::vector<WantedVideo> rows_of_csv(const WantedVideos& wanted, const Context& context) {
  const std::string name = stream_name(wanted.csv);
  std::string text;
  if (is_stream(wanted.csv)) {
    text = content_of(read_stream(wanted.csv, k_longest_list, context.stop));
  } else {
    const std::vector<std::uint8_t> bytes = read_file(wanted.csv);
    text.assign(bytes.begin(), bytes.end());
  }
  const CsvFile file = parse_csv(text, name);
  for (const std::string& column : file.columns) {
    if (std::ranges::find(k_list_columns, column) == k_list_columns.end())
      throw Error(Code::invalid,
                  fmt::format("{}: there is no column '{}': the columns are {}", name,
                              printable(column), fmt::join(k_list_columns, ", ")));
  }
  const fs::path inputs = is_stream(wanted.csv) ? fs::path() : wanted.csv.parent_path();
  std::vector<WantedVideo> videos;
  for (const CsvRow& row : file.rows) {
    WantedVideo video;
    try {
      if (row.fields.size() != file.columns.size())
        throw Error(Code::invalid, fmt::format("has {} fields, the heading {}", row.fields.size(),
                                               file.columns.size()));
      Cells cells;
      for (std::size_t i = 0; i < row.fields.size(); ++i) {
        if (!row.fields[i].empty()) cells[file.columns[i]] = row.fields[i];
      }
      video = video_of(cells, wanted, inputs);
    } catch (const Error& error) {
      video.error = error;
    }
    video.name = fmt::format("row {}", row.number);
    video.stem = fmt::format("row-{}", row.number);
    videos.push_back(std::move(video));
  }
  return videos;
}

std::vector<WantedVideo> videos_of_folder(const WantedVideos& wanted) {
  std::vector<WantedVideo> videos;
  for (const fs::path& file : files_of(wanted.folder)) {
    WantedVideo video;
    try {
      video = video_of(cells_of_file(file, format_of(wanted)), wanted, {});
      video.format_asked = !wanted.format.empty();
    } catch (const Error& error) {
      video.error = error;
    }
    video.name = printable(file.filename().native());
    videos.push_back(std::move(video));
  }
  return videos;
}

}  // namespace

std::string format_of_name(const fs::path& file) {
  std::string ending = file.extension().native();
  if (ending.empty()) return "";
  for (char& c : ending) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return ending.substr(1);
}

std::vector<WantedVideo> list_wanted(const WantedVideos& wanted, const Context& context) {
  const int given =
      !wanted.csv.empty() + !wanted.audio.empty() + !wanted.text.empty() + !wanted.folder.empty();
  if (given != 1)
    throw Error(Code::usage,
                "give what to render: --audio FILE, --text TEXT, --csv FILE or --folder DIR");
  if (!wanted.csv.empty()) return rows_of_csv(wanted, context);
  if (wanted.avatar.empty()) throw Error(Code::usage, "name the avatar: --avatar ID");
  if (!wanted.folder.empty()) return videos_of_folder(wanted);
  std::vector<WantedVideo> videos;
  if (!wanted.text.empty()) {
    videos.push_back(video_of({{"text", wanted.text}}, wanted, {}));
    videos.back().name = "the text";
  }
  for (const fs::path& file : wanted.audio) {
    WantedVideo video;
    try {
      video = video_of({{"audio", file.native()}}, wanted, {});
    } catch (const Error& error) {
      video.error = error;
    }
    video.name = printable(file.filename().native());
    video.output = file.stem().native() + "." + format_of(wanted);
    videos.push_back(std::move(video));
  }
  return videos;
}

}  // namespace navtalk::cmd
