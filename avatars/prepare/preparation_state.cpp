#include "avatars/prepare/preparation_state.h"

#include <utility>

#include "avatars/bundle/avatar_info.h"
#include "avatars/bundle/json_file.h"
#include "core/base/error.h"

namespace navtalk {
namespace {

namespace fs = std::filesystem;

constexpr int k_version = 1;  // of the steps: a change of what they compute counts it up
constexpr std::size_t k_max_bytes = std::size_t{16} << 20;

std::string text_of(const PreparationKey& key) {
  nlohmann::ordered_json json = {{"version", k_version},   {"fps", key.fps},
                                 {"sources", key.sources}, {"faces", key.faces},
                                 {"masks", key.masks},     {"model", key.model}};
  if (!key.clips.empty()) json["clips"] = key.clips;
  if (!key.still_motion.empty()) json["still_motion"] = key.still_motion;
  if (key.lossless) json["lossless"] = true;
  return json.dump();
}

// Leftovers that cannot be read are as good as none.
std::optional<nlohmann::json> read_leftover(const fs::path& file) {
  try {
    return read_json_object(file, k_max_bytes);
  } catch (const Error&) {
    return std::nullopt;
  }
}

std::optional<JoinedClips> read_clip(const nlohmann::json& json) {
  const JsonValue root(json, "prepare.json: ");
  if (!root.has("width")) return std::nullopt;
  JoinedClips clip{.size = {static_cast<int>(root.at("width").integer(1, k_max_frame_size)),
                            static_cast<int>(root.at("height").integer(1, k_max_frame_size))}};
  if (root.has("clips")) {
    const JsonValue list = root.at("clips");
    for (std::size_t i = 0; i < list.list_size(); ++i)
      clip.frames.push_back(list.at(i).integer(1, k_max_avatar_frames));
  }
  return clip;
}

}  // namespace

PreparationState::PreparationState(const fs::path& folder, const PreparationKey& key)
    : file_(folder / "prepare.json"), key_(text_of(key)) {
  const auto found = read_leftover(file_);
  if (found && found->contains("key") && found->at("key") == key_) {
    clip_ = read_clip(*found);
    return;
  }
  for (const auto& entry : fs::directory_iterator(folder)) fs::remove_all(entry.path());
  write();
}

void PreparationState::clip_done(JoinedClips clip) {
  clip_ = std::move(clip);
  write();
}

void PreparationState::remove() { fs::remove(file_); }

void PreparationState::write() const {
  nlohmann::ordered_json json = {{"key", key_}};
  if (clip_) {
    json["width"] = clip_->size.width;
    json["height"] = clip_->size.height;
    if (!clip_->frames.empty()) json["clips"] = clip_->frames;
  }
  write_text_whole(file_, json.dump() + "\n");
}

}  // namespace navtalk
