#include "avatars/bundle/avatar_info.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "avatars/bundle/avatar_id.h"
#include "avatars/bundle/json_file.h"

namespace navtalk {
namespace {

constexpr const char* k_format = "navtalk-avatar";
constexpr int k_version = 2;
constexpr const char* k_rgb = "rgb";
constexpr std::size_t k_max_info_bytes = 64 * 1024;

int whole(const JsonValue& value, std::int64_t min, std::int64_t max) {
  return static_cast<int>(value.integer(min, max));
}

std::string checksum(const JsonValue& value) {
  std::string text = value.text(64);
  const bool hex = std::all_of(text.begin(), text.end(), [](char c) {
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f');
  });
  if (text.size() != 64 || !hex) value.refuse("must be 64 lower-case hexadecimal digits");
  return text;
}

// They follow one another, and together they are all frames.
std::vector<AvatarClip> read_clips(const JsonValue& list, std::int64_t frames) {
  const std::size_t count = list.list_size();
  if (count == 0 || count > k_most_clips)
    list.refuse(fmt::format("must hold 1 to {} clips", k_most_clips));
  std::vector<AvatarClip> clips;
  std::int64_t end = 0;
  for (std::size_t i = 0; i < count; ++i) {
    const JsonValue entry = list.at(i);
    AvatarClip clip{.name = entry.at("name").text(64)};
    const bool named =
        i == 0 ? clip.name == k_speaking_clip : is_state(clip.name) || valid_action(clip.name);
    if (!named)
      entry.at("name").refuse(i == 0
                                  ? fmt::format("of the first clip must be \"{}\"", k_speaking_clip)
                                  : fmt::format("must be a state, or {}", k_action_rule));
    if (find_clip(clips, clip.name)) entry.at("name").refuse("stands there twice");
    clip.first = entry.at("first").integer(0, frames);
    if (clip.first != end)
      entry.at("first").refuse(fmt::format("must be {}: clips follow one another", end));
    clip.frames = entry.at("frames").integer(1, frames);
    if (entry.has("loop")) clip.loop = entry.at("loop").boolean();
    end = clip.first + clip.frames;
    clips.push_back(std::move(clip));
  }
  if (end != frames)
    list.refuse(fmt::format("hold {} frames together, and the avatar has {}", end, frames));
  return clips;
}

nlohmann::ordered_json clips_json(const std::vector<AvatarClip>& clips) {
  auto list = nlohmann::ordered_json::array();
  for (const AvatarClip& clip : clips) {
    nlohmann::ordered_json entry = {
        {"name", clip.name}, {"first", clip.first}, {"frames", clip.frames}};
    if (clip.loop) entry["loop"] = true;
    list.push_back(std::move(entry));
  }
  return list;
}

}  // namespace

AvatarInfo read_avatar_info(const std::filesystem::path& file) {
  const nlohmann::json json = read_json_object(file, k_max_info_bytes);
  const JsonValue root(json, file.string() + ": ");
  if (root.at("format").text(64) != k_format)
    root.at("format").refuse(fmt::format("must be \"{}\"", k_format));
  AvatarInfo info;
  info.format_version = whole(root.at("format_version"), 1, 1'000'000);
  if (info.format_version > k_version)
    root.at("format_version")
        .refuse(fmt::format("is {}: made by a newer navtalk, this one reads version {}",
                            info.format_version, k_version));
  info.id = root.at("id").text(64);
  if (!valid_avatar_id(info.id)) root.at("id").refuse(fmt::format("must be {}", k_avatar_id_rule));
  info.width = whole(root.at("width"), 1, k_max_frame_size);
  info.height = whole(root.at("height"), 1, k_max_frame_size);
  if (root.has("pixel_format")) {
    if (root.at("pixel_format").text(64) != k_rgb)
      root.at("pixel_format").refuse(fmt::format("must be \"{}\", or absent for 4:2:0", k_rgb));
    info.rgb = true;
  }
  info.fps = root.at("fps").frame_rate(k_highest_avatar_fps);
  info.frames = root.at("frames").integer(1, k_max_avatar_frames);
  info.faceless_frames = root.at("faceless_frames").integer(0, info.frames);
  info.face_source = root.at("face_source").text(64);
  if (root.has("mask_source")) info.mask_source = root.at("mask_source").text(64);
  if (root.has("model_checksum")) info.model_checksum = checksum(root.at("model_checksum"));
  if (root.has("given_latents")) info.given_latents = root.at("given_latents").boolean();
  if (info.given_latents && !info.model_checksum.empty())
    root.at("given_latents").refuse("excludes model_checksum");
  if (root.has("loop")) info.loop = root.at("loop").boolean();
  if (root.has("clips")) {
    info.clips = read_clips(root.at("clips"), info.frames);
    if (info.clips.front().loop != info.loop)
      root.at("clips").refuse("disagree with \"loop\", which is that of the first clip");
  }
  if (root.has("voice")) info.voice = root.at("voice").text(k_max_voice);
  if (root.has("sharpen")) info.sharpen = root.at("sharpen").number(0, k_most_sharpening);
  if (root.has("match_colour")) info.match_colour = root.at("match_colour").boolean();
  return info;
}

void write_avatar_info(const std::filesystem::path& file, const AvatarInfo& info) {
  nlohmann::ordered_json json = {{"format", k_format},
                                 {"format_version", info.format_version},
                                 {"id", info.id},
                                 {"width", info.width},
                                 {"height", info.height},
                                 {"fps", info.fps},
                                 {"frames", info.frames},
                                 {"faceless_frames", info.faceless_frames},
                                 {"face_source", info.face_source}};
  if (info.rgb) json["pixel_format"] = k_rgb;
  if (info.mask_source != k_built_in_mask) json["mask_source"] = info.mask_source;
  if (!info.model_checksum.empty()) json["model_checksum"] = info.model_checksum;
  if (info.given_latents) json["given_latents"] = true;
  if (info.loop) json["loop"] = true;
  if (!info.clips.empty()) json["clips"] = clips_json(info.clips);
  if (!info.voice.empty()) json["voice"] = info.voice;
  if (info.sharpen > 0) json["sharpen"] = info.sharpen;
  if (info.match_colour) json["match_colour"] = true;
  write_text_whole(file, json.dump(2) + "\n");
}

}  // namespace navtalk
