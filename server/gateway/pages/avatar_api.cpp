#include "server/gateway/pages/avatar_api.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

#include "server/gateway/pages/served_file.h"

namespace navtalk::server {
namespace asio = boost::asio;
using Json = nlohmann::ordered_json;

namespace {

Json as_json(const ServedAvatar& avatar) {
  Json json = {{"id", avatar.id},           {"width", avatar.width}, {"height", avatar.height},
               {"fps", avatar.fps},         {"loop", avatar.loop},   {"voice", nullptr},
               {"actions", avatar.actions}, {"preview", nullptr},    {"preview_part", nullptr}};
  if (!avatar.voice.empty()) json["voice"] = avatar.voice;
  // An id has no character that a path would have to escape (docs/avatar-format.md).
  if (!served_size(avatar.preview)) return json;
  json["preview"] = "/v1/avatars/" + avatar.id + "/preview";
  if (avatar.preview_part)
    json["preview_part"] = {avatar.preview_part->from, avatar.preview_part->to};
  return json;
}

}  // namespace

AvatarApi::AvatarApi(AvatarList avatars, BlockingThreads& threads)
    : avatars_(avatars ? std::move(avatars) : [] { return std::vector<ServedAvatar>{}; }),
      threads_(threads) {}

void AvatarApi::add_routes(Router& router) {
  router.on("GET", "/v1/avatars", [this](const Request&) { return list(); });
  router.on("GET", "/v1/avatars/{id}/preview",
            [this](const Request& request) { return preview(request); });
}

asio::awaitable<Response> AvatarApi::list() {
  Json list = co_await threads_.run([this] {
    Json all = Json::array();
    for (const ServedAvatar& avatar : avatars_()) all.push_back(as_json(avatar));
    return all;
  });
  Json body;
  body["avatars"] = std::move(list);
  Response response = json_response(200, body);
  response.headers.emplace_back("Cache-Control", "no-cache");
  response.headers.emplace_back("X-Content-Type-Options", "nosniff");
  co_return response;
}

// The id is compared with those of the list; no path is made of it.
asio::awaitable<Response> AvatarApi::preview(const Request& request) {
  co_return co_await threads_.run([this, &request]() -> Response {
    const std::vector<ServedAvatar> all = avatars_();
    const auto found = std::find_if(all.begin(), all.end(), [&](const ServedAvatar& avatar) {
      return avatar.id == request.capture("id");
    });
    if (found == all.end()) return error_response(404, "not_found", "there is no such avatar");
    return served_file(request, found->preview, {.missing = "this avatar has no preview"},
                       threads_);
  });
}

}  // namespace navtalk::server
