#include "avatars/bundle/avatar_clips.h"

#include <algorithm>

namespace navtalk {

bool is_state(std::string_view clip) {
  return clip == k_speaking_clip || clip == k_idle_clip || clip == k_listening_clip;
}

bool valid_action(std::string_view name) {
  constexpr std::size_t k_longest = 32;
  return !name.empty() && name.size() <= k_longest && !is_state(name) &&
         std::ranges::all_of(name, [](char c) {
           return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_' || c == '-';
         });
}

std::optional<std::size_t> find_clip(const std::vector<AvatarClip>& clips, std::string_view name) {
  const auto found = std::ranges::find(clips, name, &AvatarClip::name);
  if (found == clips.end()) return std::nullopt;
  return static_cast<std::size_t>(found - clips.begin());
}

std::vector<std::string> action_names(const std::vector<AvatarClip>& clips) {
  std::vector<std::string> names;
  for (const AvatarClip& clip : clips)
    if (!is_state(clip.name)) names.push_back(clip.name);
  return names;
}

}  // namespace navtalk
