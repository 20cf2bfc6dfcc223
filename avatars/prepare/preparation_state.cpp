#include "avatars/prepare/preparation_state.h"

#include "avatars/bundle/avatar_info.h"
#include "avatars/bundle/json_file.h"
#include "core/base/error.h"

namespace navtalk {
namespace {

namespace fs = std::filesystem;

constexpr int k_version = 1;  // of the steps: a change of what they compute counts it up
constexpr std::size_t k_max_bytes = std::size_t{16} << 20;

std::string text_of(const PreparationKey& key) {
  return nlohmann::ordered_json{{"version", k_version},   {"fps", key.fps},
                                {"sources", key.sources}, {"faces", key.faces},
                                {"masks", key.masks},     {"model", key.model}}
      .dump();
}

// Leftovers that cannot be read are as good as none.
std::optional<nlohmann::json> read_leftover(const fs::path& file) {
  try {
    return read_json_object(file, k_max_bytes);
  } catch (const Error&) {
    return std::nullopt;
  }
}

std::optional<ClipSize> read_size(const nlohmann::json& json) {
  const JsonValue root(json, "prepare.json: ");
  if (!root.has("width")) return std::nullopt;
  return ClipSize{static_cast<int>(root.at("width").integer(1, k_max_frame_size)),
                  static_cast<int>(root.at("height").integer(1, k_max_frame_size))};
}

}  // namespace

PreparationState::PreparationState(const fs::path& folder, const PreparationKey& key)
    : file_(folder / "prepare.json"), key_(text_of(key)) {
  const auto found = read_leftover(file_);
  if (found && found->contains("key") && found->at("key") == key_) {
    clip_size_ = read_size(*found);
    return;
  }
  for (const auto& entry : fs::directory_iterator(folder)) fs::remove_all(entry.path());
  write();
}

void PreparationState::clip_done(ClipSize size) {
  clip_size_ = size;
  write();
}

void PreparationState::remove() { fs::remove(file_); }

void PreparationState::write() const {
  nlohmann::ordered_json json = {{"key", key_}};
  if (clip_size_) {
    json["width"] = clip_size_->width;
    json["height"] = clip_size_->height;
  }
  write_text_whole(file_, json.dump() + "\n");
}

}  // namespace navtalk
