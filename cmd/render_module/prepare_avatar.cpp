// navtalk avatar prepare: a video or pictures to an avatar's folder.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>

#include "avatars/faces/built_in_faces.h"
#include "avatars/faces/given_faces.h"
#include "avatars/faces/landmark_faces.h"
#include "avatars/faces/parsed_masks.h"
#include "avatars/faces/shape_faces.h"
#include "avatars/faces/skin_masks.h"
#include "avatars/prepare/prepare.h"
#include "cmd/avatar/report.h"
#include "cmd/defaults.h"
#include "cmd/render_module/bodies.h"
#include "cmd/render_module/media_limits.h"
#include "cmd/render_module/other_faces.h"
#include "core/base/error.h"
#include "core/log/log.h"
#include "core/text/number.h"
#include "gpu/model/model_files.h"
#include "gpu/model/usable_device.h"

namespace navtalk::cmd {
namespace {

ClipSource source_of(const AvatarPrepareOptions& options) {
  const int given = !options.video.empty() + !options.image.empty() + !options.images.empty();
  if (given != 1)
    throw Error(Code::usage, "name exactly one source: --video FILE, --image FILE or --images DIR");
  if (!options.video.empty()) return options.video;
  if (!options.image.empty()) return std::vector{options.image};
  return list_pictures(options.images);
}

std::optional<StillMotionKind> still_motion_of(const AvatarPrepareOptions& options) {
  if (options.no_blinks && !options.still_motion)
    throw Error(Code::usage, "--no-blinks is about --still-motion");
  if (!options.still_motion) return std::nullopt;
  if (options.image.empty())
    throw Error(Code::usage, "--still-motion is for a still: give one picture with --image");
  if (!options.idle.empty() || !options.listening.empty() || !options.actions.empty())
    throw Error(Code::usage, "--still-motion is for an avatar of one picture, without other clips");
  return options.no_blinks ? StillMotionKind::sway : StillMotionKind::blink_and_sway;
}

std::vector<OtherClip> clips_of(const AvatarPrepareOptions& options) {
  std::vector<OtherClip> clips;
  if (!options.idle.empty()) clips.push_back({std::string(k_idle_clip), options.idle});
  if (!options.listening.empty())
    clips.push_back({std::string(k_listening_clip), options.listening});
  for (const std::string& action : options.actions) {
    const std::size_t end = action.find('=');
    const std::string name = action.substr(0, end);
    if (end == std::string::npos || end + 1 == action.size())
      throw Error(Code::usage, fmt::format("--action {}: must be NAME=FILE", action));
    if (!valid_action(name))
      throw Error(Code::usage,
                  fmt::format("--action {}: the name must be {}", action, k_action_rule));
    if (std::ranges::find(clips, name, &OtherClip::name) != clips.end())
      throw Error(Code::usage,
                  fmt::format("--action {}: there are two clips named {}", action, name));
    clips.push_back({name, std::filesystem::path(action.substr(end + 1))});
  }
  if (!clips.empty() && !options.face_boxes.empty())
    throw Error(Code::usage,
                "--face-boxes is for an avatar of one clip: leave --idle, --listening and --action "
                "away, or give one --face-box for all clips");
  return clips;
}

Box parse_face_box(const std::string& text) {
  std::array<int, 4> number{};
  std::string_view rest = text;
  bool good = true;
  for (std::size_t i = 0; i < number.size() && good; ++i) {
    number[i] = take_number<int>(rest).value_or(-1);
    good =
        number[i] >= 0 && number[i] < (1 << 20) && (i == 3 ? rest.empty() : rest.starts_with(','));
    if (good && i < 3) rest.remove_prefix(1);
  }
  if (!good || number[2] == 0 || number[3] == 0)
    throw Error(Code::usage,
                fmt::format("--face-box {}: must be X,Y,WIDTH,HEIGHT in pixels", text));
  return {number[0], number[1], number[0] + number[2], number[1] + number[3]};
}

FaceNetOptions networks_of(const AvatarPrepareOptions& options) {
  return {.device = usable_device(parse_device(options.device)),
          .precision = *parse_precision(options.face_precision),
          .batch = options.face_batch};
}

LandmarkBoxOptions box_of(const AvatarPrepareOptions& options) {
  LandmarkBoxOptions box;
  box.bbox_shift = options.bbox_shift.value_or(box.bbox_shift);
  box.extra_margin = options.extra_margin.value_or(box.extra_margin);
  return box;
}

// By MuseTalk's landmarks where the model has both of their networks; null: the built-in finder.
std::shared_ptr<FaceSource> landmarks_of(const AvatarPrepareOptions& options,
                                         const std::optional<std::filesystem::path>& models) {
  // What the built-in finder cannot do without landmarks.
  const bool asked = (options.bbox_shift || options.extra_margin) && !installed_shape_predictor();
  if (asked && !models)
    throw Error(Code::not_found,
                "--bbox-shift and --extra-margin need landmarks: install Debian's package "
                "libdlib-data, or name a "
                "model's folder with --models");
  if (!models) return nullptr;
  const bool landmarks = find_weights(*models, Net::dwpose).has_value();
  const bool detector = find_weights(*models, Net::s3fd).has_value();
  if (!asked && !(landmarks && detector)) {
    if (landmarks || detector)
      log::warn(fmt::format(
          "the built-in face finder is used: {} has {} and not {}; MuseTalk's "
          "boxes need both",
          models->string(), landmarks ? "DWPose" : "S3FD", landmarks ? "S3FD" : "DWPose"));
    return nullptr;
  }
  return std::make_shared<LandmarkFaces>(LandmarkFaces::open(
      *models, box_of(options), networks_of(options), options.face.value_or(0)));
}

std::shared_ptr<FaceSource> faces_of(const AvatarPrepareOptions& options,
                                     const std::optional<std::filesystem::path>& models) {
  const bool given = !options.face_box.empty() || !options.face_boxes.empty();
  if (given && (options.bbox_shift || options.extra_margin))
    throw Error(Code::usage,
                "--bbox-shift and --extra-margin move boxes that are found, not given ones");
  if (given && (options.no_smoothing || options.face))
    throw Error(Code::usage,
                "--no-smoothing and --face are about faces that are found, not given ones");
  if (!options.face_box.empty() && !options.face_boxes.empty())
    throw Error(Code::usage, "--face-box and --face-boxes exclude each other");
  if (!options.face_box.empty())
    return std::make_shared<GivenFaces>(parse_face_box(options.face_box));
  if (!options.face_boxes.empty())
    return std::make_shared<GivenFaces>(read_face_boxes(options.face_boxes));
  if (auto landmarks = landmarks_of(options, models)) return landmarks;
  return built_in_faces({.smooth = !options.no_smoothing, .face = options.face.value_or(0)},
                        box_of(options));
}

// The model that is named or configured, else the demo's where it is there.
std::optional<std::filesystem::path> models_of(const AvatarPrepareOptions& options,
                                               const Context& context) {
  try {
    return models_directory(options.models, context);
  } catch (const Error& error) {
    if (error.code() != Code::not_found) throw;
    return std::nullopt;  // no demo files: the avatar does without latents
  }
}

// By the model's face parsing where it has one, otherwise by colours; null: an ellipse.
std::shared_ptr<MaskSource> masks_of(const AvatarPrepareOptions& options,
                                     const std::optional<std::filesystem::path>& models) {
  const std::string& mode = options.parsing_mode;
  const bool widths = options.left_cheek_width || options.right_cheek_width;
  if (widths && !mode.empty() && mode != "jaw")
    throw Error(Code::usage, "cheek widths belong to --parsing-mode jaw");
  if (mode == "none") return nullptr;
  if (mode == "skin") return std::make_shared<SkinMasks>();
  const bool asked = !mode.empty() || widths;
  if (asked && !models)
    throw Error(Code::not_found, "--parsing-mode needs a model: name its folder with --models");
  if (!asked && !(models && find_weights(*models, Net::bisenet)))
    return std::make_shared<SkinMasks>();
  ParsingOptions parsing;
  if (mode == "raw") parsing.mode = ParsingMode::raw;
  if (mode == "neck") parsing.mode = ParsingMode::neck;
  parsing.left_cheek_width = options.left_cheek_width.value_or(parsing.left_cheek_width);
  parsing.right_cheek_width = options.right_cheek_width.value_or(parsing.right_cheek_width);
  return std::make_shared<ParsedMasks>(require_weights(*models, Net::bisenet), parsing,
                                       networks_of(options));
}

}  // namespace

int prepare_avatar(const AvatarPrepareOptions& options, Context& context) {
  if (!options.preview.empty()) check_preview(options.preview, options.force);
  networks_of(options);  // a device that is named is there, also where no network needs it
  const std::optional<std::filesystem::path> models = models_of(options, context);
  const PrepareOptions work{.source = source_of(options),
                            .clips = clips_of(options),
                            .output = options.output,
                            .id = options.id,
                            .faces = faces_of(options, models),
                            .masks = masks_of(options, models),
                            .fps = options.fps,
                            .still_motion = still_motion_of(options),
                            .lossless = options.lossless,
                            .loop = options.loop,
                            .voice = options.voice,
                            .sharpen = options.sharpen,
                            .match_colour = options.match_colour,
                            .force = options.force,
                            .latents = models && !options.no_latents
                                           ? std::optional(latents_of_model(*models))
                                           : std::nullopt,
                            .limits = media_limits(context)};
  const AvatarInfo info = prepare(work, context.progress, context.stop);
  context.clear_progress();
  if (!options.preview.empty())
    write_contact_sheet(options.output, options.preview, options.force, work.limits);
  if (models) warn_of_other_faces(*models, info.id);
  if (context.json) {
    context.out.json(avatar_json(info, options.output));
  } else {
    print_avatar(context, info, options.output);
  }
  return 0;
}

}  // namespace navtalk::cmd
