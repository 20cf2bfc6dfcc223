#include "cmd/frame_rate_option.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>

#include "avatars/bundle/avatar_info.h"

namespace navtalk::cmd {
namespace {

FrameRate parse_rate(const std::string& given, const FrameRate& highest) {
  const auto parsed = parse_frame_rate(given);
  if (!parsed || *parsed < 1 || *parsed > highest)
    throw CLI::ValidationError(
        "--fps", fmt::format("{} is not a frame rate from 1 to {}, such as 25, 29.97 or "
                             "30000/1001",
                             given, text(highest)));
  return *parsed;
}

}  // namespace

void add_frame_rate(CLI::App& command, FrameRate& rate, const FrameRate& highest,
                    const std::string& description) {
  const auto take = [&rate, highest](const std::string& given) {
    rate = parse_rate(given, highest);
  };
  command.add_option_function<std::string>("--fps", take, description)
      ->default_str(text(rate))
      ->type_name("N");
}

void add_optional_frame_rate(CLI::App& command, std::optional<FrameRate>& rate,
                             const std::string& description) {
  const auto take = [&rate](const std::string& given) {
    rate = parse_rate(given, k_highest_avatar_fps);
  };
  command.add_option_function<std::string>("--fps", take, description)->type_name("N");
}

}  // namespace navtalk::cmd
