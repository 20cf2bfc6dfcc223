// The routes under /v1/avatars: which avatars there are, and a moving picture of each. Files are read
// on a thread of their own.
#pragma once

#include <boost/asio/awaitable.hpp>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "core/base/frame_rate.h"
#include "server/http/blocking_threads.h"
#include "server/http/router.h"

namespace navtalk::server {

// Seconds from the preview's start, `to` not included.
struct PreviewPart {
  double from = 0, to = 0;
};
struct ServedAvatar {
  std::string id{};
  int width = 0, height = 0;
  FrameRate fps = 25;
  bool loop = false;
  std::string voice{};                 // "" when it has none
  std::vector<std::string> actions{};  // that sessions can play
  std::filesystem::path preview{};     // an MP4 file that browsers play; empty: there is none
  // What a gallery shows of the preview, where that is not all of it.
  std::optional<PreviewPart> preview_part{};
};
// Reads the avatars' folders; called on the thread for files.
using AvatarList = std::function<std::vector<ServedAvatar>()>;

class AvatarApi {
 public:
  // Without `avatars` there are none.
  AvatarApi(AvatarList avatars, BlockingThreads& threads);
  AvatarApi(const AvatarApi&) = delete;
  AvatarApi& operator=(const AvatarApi&) = delete;

  // The routes refer to this object.
  void add_routes(Router& router);

 private:
  boost::asio::awaitable<Response> list();
  boost::asio::awaitable<Response> preview(const Request& request);

  const AvatarList avatars_;
  BlockingThreads& threads_;
};

}  // namespace navtalk::server
