#include "avatars/prepare/prepare.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <string_view>
#include <vector>

#include "avatars/bundle/avatar_id.h"
#include "avatars/bundle/bundle.h"
#include "avatars/bundle/bundle_files.h"
#include "avatars/faces/built_in_faces.h"
#include "avatars/faces/cascade_track.h"
#include "avatars/prepare/found_faces.h"
#include "avatars/prepare/latent_log.h"
#include "avatars/prepare/make_masks.h"
#include "avatars/prepare/match_clips.h"
#include "avatars/prepare/preparation_state.h"
#include "core/base/error.h"
#include "core/base/interrupt.h"
#include "core/files/partial_path.h"
#include "core/log/log.h"
#include "core/media/image_file.h"

namespace navtalk {
namespace {

namespace fs = std::filesystem;

constexpr const char* k_still_file = "still.mp4";   // while a still that moves is prepared
constexpr const char* k_search_folder = "search";   // what was found until k_found_file stands
constexpr const char* k_found_file = "found.json";  // until the masks are made

// One run of prepare(): the steps in order, each a no-op when an earlier run has done it.
class Preparation {
 public:
  Preparation(const PrepareOptions& options, FaceSource& source, fs::path folder,
              const Progress& progress, const std::stop_token& stop)
      : options_(options),
        source_(source),
        folder_(std::move(folder)),
        progress_(progress),
        stop_(stop) {}

  AvatarInfo run();

 private:
  PreparationKey key() const;
  ClipCoding coding() const { return {.fps = options_.fps, .lossless = options_.lossless}; }
  std::string still_motion_name() const;
  const StillMotion& still_motion();
  void make_clip(PreparationState& state);
  std::vector<AvatarClip> clips_of(const JoinedClips& joined) const;
  FoundFaces look_for_faces(Clip& clip, const AvatarInfo& info);
  FoundFaces find_faces(Clip& clip, const AvatarInfo& info);
  Faces make_faces(Clip& clip, AvatarInfo& info);
  void join_clips(Clip& clip, const Faces& faces, AvatarInfo& info);
  void make_latents(Clip& clip, const Faces& faces);

  const PrepareOptions& options_;
  FaceSource& source_;
  fs::path folder_;
  const Progress& progress_;
  const std::stop_token& stop_;
  std::optional<StillMotion> motion_{};
};

// Of the movements that this version makes.
std::string Preparation::still_motion_name() const {
  if (!options_.still_motion) return "";
  return *options_.still_motion == StillMotionKind::sway ? "1, sway" : "2, blink and sway";
}

PreparationKey Preparation::key() const {
  PreparationKey key{.fps = options_.fps,
                     .sources = source_checksums(options_.source),
                     .faces = source_.identity(),
                     .masks = options_.masks ? options_.masks->identity() : "",
                     .model = options_.latents ? options_.latents->model_checksum : "",
                     .clips = {},
                     .still_motion = still_motion_name(),
                     .lossless = options_.lossless};
  for (const OtherClip& clip : options_.clips) {
    std::ranges::copy(source_checksums(clip.source), std::back_inserter(key.sources));
    key.clips.push_back(clip.name);
  }
  return key;
}

// The face is found in the still as in a clip of one frame.
const StillMotion& Preparation::still_motion() {
  if (motion_) return *motion_;
  const fs::path file = folder_ / k_still_file;
  const ClipSize size = make_frames(options_.source, coding(), file, options_.limits, {}, stop_);
  Clip clip(file, size.width, size.height, options_.limits);
  const FaceBoxes boxes = source_.find(clip, options_.fps, {}, {}, stop_);
  const std::vector<FacePoints> landmarks = source_.landmarks();
  const auto& pictures = std::get<std::vector<fs::path>>(options_.source);
  motion_.emplace(read_image(pictures.front(), options_.limits), boxes.front().value(),
                  options_.fps, *options_.still_motion, cascade_directories(),
                  landmarks.empty() ? FacePoints() : landmarks.front());
  if (!motion_->blinks() && *options_.still_motion != StillMotionKind::sway)
    log::warn("no two eyes were found in the picture: the face sways and does not blink");
  return *motion_;
}

void Preparation::make_clip(PreparationState& state) {
  if (state.clip()) return;
  const fs::path file = folder_ / k_frames_file;
  if (options_.still_motion) {
    const StillMotion& motion = still_motion();
    const auto picture = [&](std::int64_t index) { return motion.frame(index); };
    return state.clip_done(
        {.size = encode_pictures(motion.frame_count(), picture, coding(), file, progress_, stop_),
         .frames = {}});
  }
  if (options_.clips.empty())
    return state.clip_done(
        {.size = make_frames(options_.source, coding(), file, options_.limits, progress_, stop_),
         .frames = {}});
  std::vector<ClipSource> sources{options_.source};
  for (const OtherClip& clip : options_.clips) sources.push_back(clip.source);
  state.clip_done(join_frames(sources, coding(), file, options_.limits, progress_, stop_));
}

std::vector<AvatarClip> Preparation::clips_of(const JoinedClips& joined) const {
  std::vector<AvatarClip> clips;
  std::int64_t first = 0;
  for (std::size_t i = 0; i < joined.frames.size(); ++i) {
    clips.push_back({.name = i == 0 ? std::string(k_speaking_clip) : options_.clips[i - 1].name,
                     .first = first,
                     .frames = joined.frames[i],
                     .loop = i == 0 && options_.loop});
    first += joined.frames[i];
  }
  return clips;
}

// Of one clip after the other: what a source knows of a face's movement ends with the clip.
FoundFaces Preparation::look_for_faces(Clip& clip, const AvatarInfo& info) {
  FoundFaces all;
  if (options_.still_motion) {
    for (std::int64_t i = 0; i < info.frames; ++i) {
      all.boxes.emplace_back(still_motion().face(i));
      all.landmarks.push_back(still_motion().landmarks(i));
    }
    return all;
  }
  if (info.clips.empty()) {
    all.boxes = source_.find(clip, options_.fps, folder_ / k_search_folder, progress_, stop_);
    all.landmarks = source_.landmarks();
    return all;
  }
  for (const AvatarClip& one : info.clips) {
    const Progress progress = [&](std::string_view stage, std::size_t done, std::size_t) {
      if (progress_)
        progress_(stage, all.boxes.size() + done, static_cast<std::size_t>(info.frames));
    };
    Clip part(folder_ / k_frames_file, info.width, info.height,
              ClipPart{.first = one.first, .frames = one.frames}, options_.limits);
    try {
      std::ranges::copy(
          source_.find(part, options_.fps, folder_ / k_search_folder / one.name, progress, stop_),
          std::back_inserter(all.boxes));
      std::ranges::copy(source_.landmarks(), std::back_inserter(all.landmarks));
    } catch (const Error& error) {
      if (error.code() != Code::invalid) throw;
      throw error.within("clip " + one.name);
    }
  }
  return all;
}

FoundFaces Preparation::find_faces(Clip& clip, const AvatarInfo& info) {
  const fs::path file = folder_ / k_found_file;
  if (auto earlier = read_found_faces(file, info.frames)) return *earlier;
  FoundFaces found = look_for_faces(clip, info);
  write_found_faces(file, found);
  fs::remove_all(folder_ / k_search_folder);
  return found;
}

Faces Preparation::make_faces(Clip& clip, AvatarInfo& info) {
  const fs::path faces_file = folder_ / k_faces_file;
  if (!fs::exists(faces_file)) {
    const FoundFaces found = find_faces(clip, info);
    Faces made = make_masks(clip, found.boxes, options_.masks.get(), folder_, progress_, stop_);
    for (std::size_t i = 0; i < found.landmarks.size(); ++i)
      if (made[i]) made[i]->landmarks = found.landmarks[i];
    write_faces(faces_file, made);  // last: its presence says that both stand
  }
  fs::remove(folder_ / k_found_file);
  fs::remove(folder_ / k_mask_log);
  fs::remove_all(folder_ / k_search_folder);
  Faces faces = read_faces(faces_file, info);
  info.faceless_frames = info.frames - count_faces(faces);
  return faces;
}

void Preparation::make_latents(Clip& clip, const Faces& faces) {
  LatentLog log(folder_ / "latents.log");
  const std::size_t there = log.resume(count_faces(faces));
  const auto keep = [&](std::span<const float> batch) { log.append(batch); };
  encode_faces(clip, faces, options_.latents->open_model(), there, keep, progress_, stop_);
  log.write(folder_ / k_latents_file, faces, options_.latents->model_checksum);
  log.remove();
}

void Preparation::join_clips(Clip& clip, const Faces& faces, AvatarInfo& info) {
  const Transitions transitions = match_clips(clip, faces, info, progress_, stop_);
  transitions.write(folder_ / k_transitions_file);
  for (const UnlikeClip& unlike : unlike_clips(transitions, info))
    log::warn(
        "a live session will be seen to jump into a clip: it shows another person, or the same in "
        "another place or light",
        {{"clip", unlike.name}, {"grey_levels", fmt::format("{:.0f}", unlike.difference)}});
}

AvatarInfo Preparation::run() {
  PreparationState state(folder_, key());
  make_clip(state);
  const ClipSize size = state.clip()->size;
  Clip clip(folder_ / k_frames_file, size.width, size.height, options_.limits);
  AvatarInfo info{.id = options_.id,
                  .width = size.width,
                  .height = size.height,
                  .rgb = options_.lossless,
                  .fps = options_.fps,
                  .frames = clip.frame_count(),
                  .faceless_frames = 0,
                  .face_source = source_.name(),
                  .mask_source = options_.masks ? options_.masks->name() : k_built_in_mask,
                  .model_checksum = options_.latents ? options_.latents->model_checksum : "",
                  .loop = options_.loop,
                  .voice = options_.voice,
                  .sharpen = options_.sharpen,
                  .match_colour = options_.match_colour,
                  .clips = clips_of(*state.clip())};
  if (!info.clips.empty() || info.rgb) info.format_version = 2;
  const Faces faces = make_faces(clip, info);
  if (!info.clips.empty()) join_clips(clip, faces, info);
  if (options_.latents) make_latents(clip, faces);
  state.remove();
  fs::remove(folder_ / k_still_file);
  write_avatar_info(folder_ / k_info_file, info);
  Bundle::open(folder_, options_.limits);  // what is handed out has been read
  return info;
}

PrepareOptions checked(PrepareOptions options) {
  if (options.fps < 1 || options.fps > k_highest_avatar_fps)
    throw Error(Code::invalid, fmt::format("{} frames a second: 1 to {} are possible",
                                           text(options.fps), text(k_highest_avatar_fps)));
  if (options.id.empty()) {
    const fs::path name = options.output.has_filename() ? options.output.filename()
                                                        : options.output.parent_path().filename();
    options.id = name.string();
  }
  if (!valid_avatar_id(options.id))
    throw Error(Code::invalid,
                fmt::format("\"{}\" cannot be an avatar's id: it must be {}; name one with --id",
                            options.id, k_avatar_id_rule));
  if (options.voice.size() > k_max_voice)
    throw Error(Code::invalid,
                fmt::format("the voice's name is longer than {} bytes", k_max_voice));
  if (!(options.sharpen >= 0 && options.sharpen <= k_most_sharpening))
    throw Error(Code::invalid, fmt::format("faces cannot be sharpened by {}: 0 to {} are possible",
                                           options.sharpen, k_most_sharpening));
  std::vector<std::string> names;
  for (const OtherClip& clip : options.clips) {
    if (clip.name == k_speaking_clip || !(is_state(clip.name) || valid_action(clip.name)))
      throw Error(Code::invalid,
                  fmt::format("\"{}\" cannot be the name of an action: it must be {}", clip.name,
                              k_action_rule));
    if (std::ranges::find(names, clip.name) != names.end())
      throw Error(Code::invalid, fmt::format("two clips are named {}", clip.name));
    names.push_back(clip.name);
  }
  if (options.clips.size() >= k_most_clips)
    throw Error(Code::invalid, fmt::format("{} clips: an avatar holds at most {}",
                                           options.clips.size() + 1, k_most_clips));
  if (options.still_motion) {
    const auto* pictures = std::get_if<std::vector<fs::path>>(&options.source);
    if (pictures == nullptr || pictures->size() != 1 || !options.clips.empty())
      throw Error(Code::invalid, "only an avatar of one picture can be given motion");
    options.loop = true;  // the motion goes round
  }
  if (!options.faces) options.faces = built_in_faces();
  return options;
}

}  // namespace

AvatarInfo prepare(const PrepareOptions& given, const Progress& progress,
                   const std::stop_token& stop) {
  const PrepareOptions options = checked(given);
  PartialPath partial({.target = options.output,
                       .kind = PartialPath::Kind::directory,
                       .overwrite = options.force,
                       .resume = true,
                       .marker = k_info_file});
  const auto kept = [&](Code code, const std::string& message) {
    partial.keep_partial();
    return Error(code, partial.named(message) + "; the same command goes on from what is done");
  };
  try {
    AvatarInfo info = Preparation(options, *options.faces, partial.path(), progress, stop).run();
    partial.commit();
    return info;
  } catch (const Error& error) {
    // What the input or the options are to blame for would come again.
    const bool stopped = error.code() == Code::interrupted || error.code() == Code::terminated;
    if (stopped || error.code() == Code::failed) throw kept(error.code(), error.message());
    throw Error(error.code(), partial.named(error.message()));
  } catch (const fs::filesystem_error& error) {
    throw kept(Code::failed,
               fmt::format("preparing {}: {}", options.output.string(), error.what()));
  }
}

}  // namespace navtalk
