// The pictures of an avatar, decoded once for all of its live sessions. Thread-safe.
#pragma once

#include <filesystem>
#include <memory>
#include <mutex>
#include <utility>

#include "avatars/bundle/clip.h"
#include "core/base/guarded.h"

namespace navtalk {

// For several threads, one after the other.
class SharedClip {
 public:
  explicit SharedClip(Clip clip) : clip_(std::move(clip)) {}

  Image frame(std::int64_t index) {
    const std::lock_guard lock(in_use_);
    return clip_.frame(index);
  }

 private:
  std::mutex in_use_;
  Clip clip_;
};

// Opens the clip of one avatar for its sessions.
class ClipOfSessions {
 public:
  // Of that file, and pictures of that size.
  ClipOfSessions(std::filesystem::path file, int width, int height)
      : file_(std::move(file)), width_(width), height_(height) {}

  // The one that others use, where all of its decoded pictures stay in memory. Of a longer clip each gets one of
  // its own: sessions stand at different places, and would decode it again and again. Errors as Clip.
  std::shared_ptr<SharedClip> open() {
    return used_.with([this](std::weak_ptr<SharedClip>& used) {
      if (auto shared = used.lock()) return shared;
      Clip clip(file_, width_, height_);
      const bool stays = clip.keeps_all();
      auto opened = std::make_shared<SharedClip>(std::move(clip));
      if (stays) used = opened;
      return opened;
    });
  }

 private:
  const std::filesystem::path file_;
  const int width_, height_;
  Guarded<std::weak_ptr<SharedClip>> used_;
};

}  // namespace navtalk
