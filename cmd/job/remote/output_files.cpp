#include "cmd/job/remote/output_files.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <system_error>

#include "core/files/partial_path.h"
#include "core/text/printable.h"

namespace navtalk::cmd {
namespace {

namespace fs = std::filesystem;

void make_folders(const fs::path& folder) {
  std::error_code error;
  fs::create_directories(folder, error);
  if (!error && fs::is_directory(folder, error)) return;
  if (!error) error = std::make_error_code(std::errc::not_a_directory);
  throw Error(Code::failed, fmt::format("the folder {} cannot be made: {}",
                                        printable(folder.native()), error.message()));
}

fs::path file_in(const fs::path& folder, const WantedVideo& video) {
  if (!video.output.empty()) return folder / video.output;
  return folder / (video.stem + "." + video.job.at("output").at("format").get<std::string>());
}

// The file's name decides, as for infer, unless another format was asked for.
void take_format_of(const fs::path& file, WantedVideo& video) {
  const std::string format = format_of_name(file);
  if (std::ranges::find(k_video_formats, format) == k_video_formats.end())
    throw Error(Code::usage,
                fmt::format("{} names no format of videos: end it with .{}, or / for a folder",
                            printable(file.native()), fmt::join(k_video_formats, ", .")));
  auto& asked = video.job.at("output").at("format");
  if (video.format_asked && asked != format)
    throw Error(Code::usage, fmt::format("{} would hold a video of the format {}: end it with .{}",
                                         printable(file.native()), asked.get<std::string>(),
                                         asked.get<std::string>()));
  asked = format;
}

void prepare_folder_of(const fs::path& file, bool made) {
  const fs::path folder = file.has_parent_path() ? file.parent_path() : ".";
  if (made) return make_folders(folder);
  std::error_code error;
  if (!fs::is_directory(folder, error))
    throw Error(Code::not_found,
                fmt::format("the folder {} does not exist", printable(folder.native())));
}

}  // namespace

void choose_output_files(std::vector<WantedVideo>& videos, const fs::path& output, bool force) {
  std::error_code none;
  const bool into_folder = !output.empty() && (videos.size() > 1 || !output.has_filename() ||
                                               fs::is_directory(output, none));
  if (into_folder) make_folders(output);
  std::map<fs::path, std::string> taken;
  for (WantedVideo& video : videos) {
    if (video.error) continue;
    try {
      if (!output.empty()) {
        const bool inside = into_folder && video.output.is_relative();
        if (!into_folder) take_format_of(output, video);
        video.output = into_folder ? file_in(output, video) : output;
        prepare_folder_of(video.output, inside);
      } else if (!video.output.empty()) {
        prepare_folder_of(video.output, false);
      } else {
        continue;
      }
      fs::path place = fs::weakly_canonical(video.output, none);
      if (none) place = video.output;
      const auto [at, fresh] = taken.emplace(place, video.name);
      if (!fresh)
        throw Error(Code::invalid, fmt::format("{} is the output of {} already",
                                               printable(video.output.native()), at->second));
      PartialPath::check_file(video.output, force);
    } catch (const Error& error) {
      video.error = error;
    }
  }
}

}  // namespace navtalk::cmd
