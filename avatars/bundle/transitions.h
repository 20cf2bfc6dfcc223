// transitions.safetensors: from each frame of an avatar, at which frame each of its clips is best entered, and how much
// the two pictures differ. docs/avatar-format.md describes it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <vector>

#include "avatars/bundle/avatar_info.h"

namespace navtalk {

struct Transition {
  std::int64_t entry = 0;  // frame of frames.mp4, in the clip that is entered
  float difference =
      0;  // of the pictures that are left out and those that are shown, in grey levels
};

class Transitions {
 public:
  // `rows`: [frames][clips].
  Transitions(std::size_t clips, std::vector<Transition> rows);
  // Error{not_found}; Error{invalid} naming file and tensor: shapes do not fit `info`, an entry lies outside of its
  // clip, a difference is negative or not finite.
  static Transitions read(const std::filesystem::path& file, const AvatarInfo& info);
  // Error{failed}.
  void write(const std::filesystem::path& file) const;

  // When `frame` would be shown next and the clip is entered instead; its own clip is entered at `frame`.
  const Transition& into(std::size_t clip, std::int64_t frame) const;

 private:
  std::size_t clips_;
  std::vector<Transition> rows_;
};

}  // namespace navtalk
