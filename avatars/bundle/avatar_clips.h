// The clips of an avatar: stretches of frames.mp4, one behind the other, for the states of a live session and for its
// actions. docs/avatar-format.md describes them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace navtalk {

// The names of states; any other name is an action's.
inline constexpr std::string_view k_speaking_clip = "speaking", k_idle_clip = "idle",
                                  k_listening_clip = "listening";
inline constexpr std::size_t k_most_clips = 32;
inline constexpr const char* k_action_rule = "1 to 32 of a-z 0-9 _ -, and not the name of a state";

struct AvatarClip {
  std::string name{};
  std::int64_t first = 0, frames = 0;  // of frames.mp4
  bool loop = false;                   // its last frame leads to its first
  bool operator==(const AvatarClip&) const = default;
};

bool is_state(std::string_view clip);
bool valid_action(std::string_view name);  // k_action_rule
// The clip of that name; nullopt: there is none.
std::optional<std::size_t> find_clip(const std::vector<AvatarClip>& clips, std::string_view name);
// The names of the actions, in the order of the clips.
std::vector<std::string> action_names(const std::vector<AvatarClip>& clips);

}  // namespace navtalk
