#include "cmd/avatar/report.h"

#include <nlohmann/json.hpp>

#include "cmd/terminal/output.h"
#include "core/text/printable.h"

namespace navtalk::cmd {
namespace {

std::uintmax_t bytes_in(const std::filesystem::path& directory) {
  std::uintmax_t sum = 0;
  std::error_code ignored;
  for (const auto& entry : std::filesystem::directory_iterator(directory, ignored))
    if (entry.is_regular_file(ignored)) sum += entry.file_size(ignored);
  return sum;
}

std::string face_source_text(const std::string& source) {
  if (source == "box") return "a given box";
  if (source == "cascade") return "the built-in finder (cascade)";
  if (source == "dlib") return "the built-in finder with landmarks (dlib)";
  if (source == k_imported) return "an imported folder of MuseTalk";
  if (source == "dwpose") return "MuseTalk's landmarks (dwpose)";
  return source;
}

double duration_s(const AvatarInfo& info) { return info.fps.seconds(info.frames); }

}  // namespace

nlohmann::ordered_json avatar_json(const AvatarInfo& info, const std::filesystem::path& directory) {
  nlohmann::ordered_json json = {{"id", info.id}};
  put_path(json, "directory", directory);
  json["format_version"] = info.format_version;
  json["width"] = info.width;
  json["height"] = info.height;
  json["fps"] = info.fps;
  json["frames"] = info.frames;
  json["duration_s"] = duration_s(info);
  json["faceless_frames"] = info.faceless_frames;
  json["face_source"] = info.face_source;
  json["mask_source"] = info.mask_source;
  json["pixel_format"] = info.rgb ? "rgb" : "yuv420p";
  json["given_latents"] = info.given_latents;
  json["model_checksum"] = nullptr;
  if (!info.model_checksum.empty()) json["model_checksum"] = info.model_checksum;
  json["loop"] = info.loop;
  json["voice"] = nullptr;
  if (!info.voice.empty()) json["voice"] = info.voice;
  json["sharpen"] = info.sharpen;
  json["match_colour"] = info.match_colour;
  if (!info.clips.empty()) {
    auto& clips = json["clips"] = nlohmann::ordered_json::array();
    for (const AvatarClip& clip : info.clips)
      clips.push_back({{"name", clip.name}, {"frames", clip.frames}, {"loop", clip.loop}});
  }
  json["bytes"] = bytes_in(directory);
  return json;
}

void print_avatar(Context& context, const AvatarInfo& info,
                  const std::filesystem::path& directory) {
  Output& out = context.out;
  out.print("id        {}\n", info.id);
  out.print("folder    {}, {:.1f} MB\n", printable(directory.native()),
            static_cast<double>(bytes_in(directory)) / 1e6);
  out.print("picture   {}x{}, {} frames a second\n", info.width, info.height, text(info.fps));
  out.print("length    {}, {:.2f} s{}\n", counted(info.frames, "frame"), duration_s(info),
            info.loop && info.clips.empty() ? ", loops" : "");
  for (const AvatarClip& clip : info.clips)
    out.print("clip      {}, {:.2f} s{}\n", clip.name, info.fps.seconds(clip.frames),
              clip.loop ? ", loops" : "");
  if (info.faceless_frames > 0) out.print("faceless  {}\n", counted(info.faceless_frames, "frame"));
  out.print("face      from {}\n", face_source_text(info.face_source));
  out.print("mask      from {}\n", info.mask_source == k_built_in_mask ? "an ellipse"
                                   : info.mask_source == "skin"        ? "the colours of skin"
                                                                       : info.mask_source);
  if (!info.voice.empty()) out.print("voice     {}\n", printable(info.voice));
  if (info.sharpen > 0) out.print("sharpen   by {}\n", info.sharpen);
  if (info.match_colour) out.print("colours   matched with each frame\n");
  out.print("latents   {}\n", info.given_latents ? "given, for every model"
                              : info.model_checksum.empty()
                                  ? "none, made when first used and kept in the cache"
                                  : "of the model " + info.model_checksum.substr(0, 12));
}

}  // namespace navtalk::cmd
