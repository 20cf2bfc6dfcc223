#include "cmd/render_module/infer_output.h"

#include <fmt/format.h>

#include <string>

#include "core/base/error.h"
#include "core/media/image_file.h"

namespace navtalk::cmd {
namespace {

std::string frame_name(std::int64_t index) { return fmt::format("{:08}.png", index); }

}  // namespace

InferOutput::InferOutput(const Options& options) {
  if (!options.file.empty()) {
    file_.emplace(PartialPath::Options{.target = options.file, .overwrite = options.force});
  }
  if (!options.frames.empty()) {
    frames_.emplace(PartialPath::Options{.target = options.frames,
                                         .kind = PartialPath::Kind::directory,
                                         .overwrite = options.force,
                                         .marker = frame_name(0)});
  }
}

template <class Work>
void InferOutput::with_names(const Work& work) {
  try {
    work();
  } catch (const Error& error) {
    std::string message = error.message();
    if (file_) message = file_->named(std::move(message));
    if (frames_) message = frames_->named(std::move(message));
    throw Error(error.code(), std::move(message));
  }
}

void InferOutput::start(int width, int height, const FrameRate& fps,
                        const std::filesystem::path& audio) {
  if (!file_) return;
  with_names([&] {
    writer_ = std::make_unique<Mp4Writer>(Mp4Options{
        .path = file_->path(), .width = width, .height = height, .fps = fps, .audio = audio});
  });
}

void InferOutput::write(ConstImageView bgr) {
  with_names([&] {
    if (writer_) writer_->write(bgr);
    if (frames_) write_png(frames_->path() / frame_name(count_), bgr);
  });
  ++count_;
}

RenderedVideo InferOutput::finish() {
  RenderedVideo video{.frames = count_};
  if (writer_) {
    with_names([&] { writer_->finish(); });
    writer_.reset();
  }
  if (frames_) {
    frames_->commit();
    video.frames_directory = frames_->target();
  }
  if (file_) {
    file_->commit();
    video.file = file_->target();
  }
  return video;
}

}  // namespace navtalk::cmd
