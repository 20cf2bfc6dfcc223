#include "cmd/render_module/infer/output_target.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cmath>
#include <optional>
#include <string_view>

#include "core/base/error.h"
#include "core/text/number.h"

namespace navtalk::cmd {
namespace {

namespace fs = std::filesystem;

constexpr int k_least_side = 16, k_largest_side = 8192;

bool names_folder(const fs::path& output) {
  std::error_code none;
  return output.native().ends_with('/') || fs::is_directory(output, none);
}

}  // namespace

OutputTarget output_target(const fs::path& output) {
  using enum OutputTarget::Kind;
  if (output.empty()) return {};
  if (output == "-") {
    if (::isatty(STDOUT_FILENO) == 1)
      throw Error(Code::usage,
                  "standard output is a terminal: send the video into a file or a program");
    return {.kind = standard_output, .format = &mp4_format()};
  }
  if (names_folder(output)) return {.kind = folder, .path = output};
  const VideoFormat* format = video_format(output);
  if (format == nullptr)
    throw Error(Code::usage,
                fmt::format("--output {}: the ending names the format: {}; or a folder for PNGs "
                            "with the sound, with a slash at its end; or -",
                            output.string(), video_endings()));
  return {.kind = file, .path = output, .format = format};
}

PictureSize picture_size(const std::string& text, int width, int height) {
  if (text.empty()) return {width, height};
  std::string_view rest = text;
  PictureSize size{.width = take_number<int>(rest).value_or(0)};
  if (rest.starts_with('x')) {
    rest.remove_prefix(1);
    size.height = take_number<int>(rest).value_or(0);
  } else {
    size.height = static_cast<int>(std::lround(static_cast<double>(size.width) * height / width));
  }
  const auto fits = [](int side) { return side >= k_least_side && side <= k_largest_side; };
  if (!rest.empty() || !fits(size.width) || !fits(size.height))
    throw Error(Code::usage, fmt::format("--size {}: must be WIDTHxHEIGHT or WIDTH in pixels, {} "
                                         "to {} a side, such as 1280x720",
                                         text, k_least_side, k_largest_side));
  return size;
}

}  // namespace navtalk::cmd
