// The avatar of one live session of a real worker: its pictures by avatars/live/, its voice by the synthesiser.
#pragma once

#include <memory>

#include "avatars/live/live_pictures.h"
#include "server/worker/live/live_avatar.h"

namespace navtalk::server {

std::shared_ptr<LiveAvatar> rendered_avatar(std::shared_ptr<LivePictures> pictures);

}  // namespace navtalk::server
