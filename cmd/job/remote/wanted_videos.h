// The videos that `navtalk job submit` is asked for, as a gateway takes them.
#pragma once

#include <array>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "cmd/context.h"
#include "core/base/error.h"

namespace navtalk::cmd {

// A format is the ending of its files.
inline constexpr std::array k_video_formats = {"mp4", "mov", "mkv", "webm", "gif", "webp"};

struct WantedVideos {
  // `format`: empty where none was asked for.
  std::string avatar, text, voice, size, fps, webhook, format;
  std::vector<std::filesystem::path> audio;
  std::filesystem::path csv, folder;
  int priority = 0;
};

struct WantedVideo {
  std::string name{};              // in messages: "row 3", a file's name
  nlohmann::json job{};            // the gateway's
  std::filesystem::path audio{};   // empty: a text
  std::filesystem::path output{};  // what the row names, without folder where there is none
  std::string stem = "video";      // of its file where it names none: "row-3"
  bool format_asked = false;       // by --format, or by the name in the row
  std::optional<Error> error{};    // why there is no job of it
};

// "webm" of "a.WebM"; empty where the name has no ending.
std::string format_of_name(const std::filesystem::path& file);

// In their order. Error{usage} for what does not go together, and errors of a list that cannot be read.
std::vector<WantedVideo> list_wanted(const WantedVideos& wanted, const Context& context);

}  // namespace navtalk::cmd
