#include "avatars/exchange/import.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "avatars/bundle/avatar_id.h"
#include "avatars/bundle/bundle.h"
#include "avatars/bundle/bundle_files.h"
#include "avatars/bundle/mask_file.h"
#include "avatars/exchange/musetalk_folder.h"
#include "avatars/exchange/scratch_file.h"
#include "avatars/faces/mask.h"
#include "core/base/error.h"
#include "core/base/interrupt.h"
#include "core/files/partial_path.h"
#include "core/log/log.h"
#include "core/media/encode/video_writer.h"
#include "core/media/image_file.h"

namespace navtalk {
namespace {

namespace fs = std::filesystem;

constexpr FrameRate k_usual_fps = 25;  // MuseTalk's
constexpr int k_key_interval = 50;     // so that any frame is near a key frame

// MuseTalk's Python takes the mask file's B, G, R for R, G, B when it makes a grey picture of them; for grey files, which
// it writes, that does not matter. Pillow's weights, in 65536ths.
Image grey(ConstImageView picture) {
  Image result(picture.width, picture.height, 1);
  for (int y = 0; y < picture.height; ++y) {
    for (int x = 0; x < picture.width; ++x) {
      const std::uint8_t* pixel = picture.at(x, y);
      *result.view().at(x, y) = static_cast<std::uint8_t>(
          (19595 * pixel[0] + 38470 * pixel[1] + 7471 * pixel[2] + 0x8000) >> 16);
    }
  }
  return result;
}

bool all_zero(ConstImageView mask) {
  for (int y = 0; y < mask.height; ++y)
    if (std::any_of(mask.row(y), mask.row(y) + mask.width, [](int value) { return value != 0; }))
      return false;
  return true;
}

// One run of import_avatar(), into a folder that exists.
class Import {
 public:
  Import(const ImportOptions& options, const MuseTalkFolder& source, fs::path output)
      : options_(options),
        source_(source),
        output_(std::move(output)),
        masks_(output_ / "masks.scratch"),
        latents_(output_ / "latents.scratch") {}

  AvatarInfo run(const Progress& progress, const std::stop_token& stop) {
    const bool mirrored = is_mirrored(source_, options_.limits, progress, stop);
    const std::size_t count = mirrored ? source_.size() / 2 : source_.size();
    check_length(count);
    for (std::size_t i = 0; i < count; ++i) {
      throw_if_stopped(stop);
      add_frame(i);
      add_face(i);
      if (progress) progress("importing", i + 1, count);
    }
    frames_->finish();
    write_masks();
    const auto floats = latents_.map();
    write_latents(output_ / k_latents_file,
                  {reinterpret_cast<const float*>(floats.data()), floats.size() / sizeof(float)},
                  "");
    write_faces(output_ / k_faces_file, faces_);
    const AvatarInfo made = info(mirrored);
    write_avatar_info(output_ / k_info_file, made);
    return made;
  }

 private:
  void check_length(std::size_t count) const {
    if (static_cast<std::int64_t>(count) > k_max_avatar_frames)
      throw Error(Code::invalid, fmt::format("{}: has {} frames, an avatar at most {}",
                                             (source_.path / k_musetalk_frames).string(), count,
                                             k_max_avatar_frames));
  }

  FrameRate fps() const { return options_.fps.value_or(source_.info.fps.value_or(k_usual_fps)); }

  void add_frame(std::size_t i) {
    const fs::path& file = source_.frames[i];
    const Image picture = read_image(file, options_.limits);
    if (!frames_) start(picture, file);
    if (picture.width != width_ || picture.height != height_)
      throw Error(Code::invalid,
                  fmt::format("{}: is {}x{}, {} is {}x{}", file.string(), picture.width,
                              picture.height, source_.frames.front().string(), width_, height_));
    const Box shown = intersection(source_.boxes[i], {0, 0, width_, height_});
    if (shown.empty())
      throw Error(Code::invalid,
                  fmt::format("{}: entry {} lies outside of its frame, which is {}x{}",
                              (source_.path / k_musetalk_boxes).string(), i, width_, height_));
    frames_->write(picture.view());
  }

  void start(const Image& picture, const fs::path& file) {
    width_ = picture.width;
    height_ = picture.height;
    if (width_ > k_max_frame_size || height_ > k_max_frame_size)
      throw Error(Code::invalid, fmt::format("{}: is {}x{}: at most {} pixels a side are possible",
                                             file.string(), width_, height_, k_max_frame_size));
    // x264's output depends on its number of threads, so it must not follow the machine's.
    frames_.emplace(VideoOptions{.path = output_ / k_frames_file,
                                 .width = width_,
                                 .height = height_,
                                 .fps = fps(),
                                 .audio = std::nullopt,
                                 .lossless_rgb = true,
                                 .key_interval = k_key_interval,
                                 .preset = "superfast",
                                 .threads = 4});
  }

  void add_face(std::size_t i) {
    const NdArray<float> latent = source_.latents.read_f32(std::to_string(i));
    if (!std::ranges::all_of(latent.values, [](float value) { return std::isfinite(value); }))
      throw Error(Code::invalid, fmt::format("{}: entry {} holds values that are not finite",
                                             (source_.path / k_musetalk_latents).string(), i));
    latents_.append(std::as_bytes(std::span(latent.values)));
    const Box& box = source_.boxes[i];
    const Box& crop = source_.mask_boxes[i];
    const fs::path& file = source_.masks[i];
    const Image whole = grey(read_image(file, options_.limits).view());
    if (whole.width != crop.width() || whole.height != crop.height())
      throw Error(Code::invalid,
                  fmt::format("{}: is {}x{}, its entry of {} {}x{}", file.string(), whole.width,
                              whole.height, k_musetalk_mask_boxes, crop.width(), crop.height()));
    const FaceMask mask = shown_part(box, crop, whole.view());
    const bool faceless =
        all_zero(mask.pixels.view()) &&
        std::ranges::all_of(latent.values, [](float value) { return value == 0; });
    if (faceless) {
      faces_.emplace_back();
      return;
    }
    faces_.emplace_back(AvatarFace{{box, crop}, mask.region, static_cast<int>(mask_sizes_.size())});
    masks_.append(std::as_bytes(std::span(mask.pixels.pixels)));
    mask_sizes_.push_back({mask.region.width(), mask.region.height()});
  }

  void write_masks() {
    const auto* at = reinterpret_cast<const std::uint8_t*>(masks_.map().data());
    navtalk::write_masks(output_ / k_masks_file, mask_sizes_, [&](std::size_t i) {
      const auto& [width, height] = mask_sizes_[i];
      const ConstImageView mask{at, width, height, 1, width};
      at += std::ptrdiff_t{width} * height;
      return mask;
    });
  }

  AvatarInfo info(bool mirrored) const {
    const MuseTalkInfo& given = source_.info;
    return {.id = options_.id,
            .format_version = 2,
            .width = width_,
            .height = height_,
            .rgb = true,
            .fps = fps(),
            .frames = std::ssize(faces_),
            .faceless_frames = std::ssize(faces_) - count_faces(faces_),
            .face_source = given.face_source.empty() ? k_imported : given.face_source,
            .mask_source = given.mask_source.empty() ? k_imported : given.mask_source,
            .given_latents = true,
            .loop = !mirrored && (options_.loop || given.loop),
            .voice = options_.voice.empty() ? given.voice : options_.voice,
            .sharpen = options_.sharpen.value_or(given.sharpen),
            .match_colour = options_.match_colour || given.match_colour};
  }

  const ImportOptions& options_;
  const MuseTalkFolder& source_;
  const fs::path output_;
  ScratchFile masks_, latents_;
  std::vector<MaskSize> mask_sizes_{};
  Faces faces_{};
  std::optional<VideoWriter> frames_{};
  int width_ = 0, height_ = 0;
};

ImportOptions import_checked(ImportOptions options, const MuseTalkInfo& info) {
  if (options.fps && (*options.fps < 1 || *options.fps > k_highest_avatar_fps))
    throw Error(Code::invalid, fmt::format("{} frames a second: 1 to {} are possible",
                                           text(*options.fps), text(k_highest_avatar_fps)));
  if (options.voice.size() > k_max_voice)
    throw Error(Code::invalid,
                fmt::format("the voice's name is longer than {} bytes", k_max_voice));
  if (options.sharpen && !(*options.sharpen >= 0 && *options.sharpen <= k_most_sharpening))
    throw Error(Code::invalid, fmt::format("faces cannot be sharpened by {}: 0 to {} are possible",
                                           *options.sharpen, k_most_sharpening));
  if (options.id.empty() && valid_avatar_id(info.avatar_id)) options.id = info.avatar_id;
  if (options.id.empty()) {
    const fs::path& output = options.output;
    options.id = (output.has_filename() ? output : output.parent_path()).filename().string();
  }
  if (!valid_avatar_id(options.id))
    throw Error(Code::invalid,
                fmt::format("\"{}\" cannot be an avatar's id: it must be {}; name one with --id",
                            options.id, k_avatar_id_rule));
  return options;
}

}  // namespace

AvatarInfo import_avatar(const ImportOptions& given, const Progress& progress,
                         const std::stop_token& stop) {
  const MuseTalkFolder source = open_musetalk(given.folder);
  const ImportOptions options = import_checked(given, source.info);
  if (source.info.version == "v1")
    log::warn(
        fmt::format("{} was prepared for MuseTalk 1.0: the faces that MuseTalk 1.5 draws may "
                    "not fit it",
                    given.folder.string()));
  PartialPath partial({.target = options.output,
                       .kind = PartialPath::Kind::directory,
                       .overwrite = options.force,
                       .marker = k_info_file});
  try {
    const AvatarInfo info = Import(options, source, partial.path()).run(progress, stop);
    Bundle::open(partial.path(), options.limits);  // what is handed out has been read
    partial.commit();
    return info;
  } catch (const Error& error) {
    throw Error(error.code(), partial.named(error.message()));
  } catch (const fs::filesystem_error& error) {
    throw Error(Code::failed, fmt::format("importing {}: {}", options.folder.string(),
                                          partial.named(error.what())));
  }
}

}  // namespace navtalk
