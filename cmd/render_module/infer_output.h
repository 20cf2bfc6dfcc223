// Where rendered frames go: an MP4 file, a folder of PNGs, or both. Each appears whole or not at
// all.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>

#include "core/base/frame_rate.h"
#include "core/files/partial_path.h"
#include "core/media/encode/mp4_writer.h"
#include "core/tensor/image.h"

namespace navtalk::cmd {

struct RenderedVideo {
  std::optional<std::filesystem::path> file, frames_directory;
  std::int64_t frames = 0;
};

class InferOutput {
 public:
  struct Options {
    std::filesystem::path file, frames;  // empty: not wanted
    bool force = false;
  };
  // Refuses what cannot be written before any work is done.
  explicit InferOutput(const Options& options);

  void start(int width, int height, const FrameRate& fps, const std::filesystem::path& audio);
  void write(ConstImageView bgr);
  RenderedVideo finish();

 private:
  template <class Work>
  void with_names(const Work& work);  // in the errors of it

  std::optional<PartialPath> file_, frames_;
  std::unique_ptr<Mp4Writer> writer_;
  std::int64_t count_ = 0;
};

}  // namespace navtalk::cmd
