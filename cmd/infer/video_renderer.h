// Videos one after the other with one model, each of an avatar and with options of its own. Made by the
// module (render_module.h). One thread.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "cmd/infer/infer.h"

namespace navtalk::cmd {

struct FinishedVideo {
  std::int64_t frames = 0;
  std::int64_t rendered = 0;  // of the frames; the others stood in finished segments
  double duration_s = 0;
};

// A part of a video, which stands complete in SegmentWork::folder.
struct FinishedSegment {
  int index = 0;
  double duration_s = 0;
  std::string record{};  // a JSON object
};

// Where a video's parts are kept, so that an interrupted rendering goes on behind the last of them. A video
// that is no longer than one part, or whose format cannot be joined, is rendered whole.
struct SegmentWork {
  std::filesystem::path folder{};      // made when the first part is written
  std::vector<std::string> records{};  // of the parts that were finished before, by index
  std::function<void(const FinishedSegment&)> finished{};
  std::function<void()> joining{};  // called again and again while the parts are joined
  std::function<void()>
      storing{};  // and while a part or the video goes to the disk, for each piece of it
};

struct VideoRenderer {
  // Opens `options.avatar_directory`; its errors are of no video.
  std::function<void(const InferOptions&)> open;
  // How long the speech is that would be rendered, in seconds: it is decoded, or spoken. Errors of
  // infer's input; Error{invalid} for one that is too long for the output's format, or shorter than one frame.
  std::function<double(const InferOptions&)> speech_s;
  // Loads the model; its errors are of no video.
  std::function<void()> load;
  // Of the nets that are loaded: "cpu" or "cuda".
  std::function<std::string()> device;
  struct Steps {
    // The avatar and the model are there: what follows takes as long as the speech is.
    std::function<void()> prepared{};
    std::function<void(std::int64_t done, std::int64_t of)> progress;  // frames
    std::optional<SegmentWork> segments{};
    // The output stands whole under that name, and gets its own next. What it throws leaves no output.
    std::function<void(const std::filesystem::path& whole)> before_commit;
  };
  // Renders `options.audio` (one file) or `options.text` to `options.output`.
  std::function<FinishedVideo(const InferOptions&, const Steps&)> render;
};

}  // namespace navtalk::cmd
