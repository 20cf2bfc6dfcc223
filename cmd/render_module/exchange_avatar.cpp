// navtalk avatar import, navtalk avatar export: MuseTalk's folders to avatars, and back.
#include <nlohmann/json.hpp>
#include <string>

#include "avatars/exchange/export.h"
#include "avatars/exchange/import.h"
#include "cmd/avatar/report.h"
#include "cmd/defaults.h"
#include "cmd/render_module/bodies.h"
#include "cmd/render_module/media_limits.h"
#include "cmd/terminal/output.h"
#include "core/log/log.h"
#include "core/text/printable.h"

namespace navtalk::cmd {

int import_avatar(const AvatarImportOptions& options, Context& context) {
  const AvatarInfo info = navtalk::import_avatar({.folder = options.folder,
                                                  .output = options.output,
                                                  .id = options.id,
                                                  .fps = options.fps,
                                                  .loop = options.loop,
                                                  .voice = options.voice,
                                                  .sharpen = options.sharpen,
                                                  .match_colour = options.match_colour,
                                                  .force = options.force,
                                                  .limits = media_limits(context)},
                                                 context.progress, context.stop);
  context.clear_progress();
  if (context.json) {
    context.out.json(avatar_json(info, options.output));
  } else {
    print_avatar(context, info, options.output);
  }
  return 0;
}

int export_avatar(const AvatarExportOptions& options, Context& context) {
  Bundle avatar = Bundle::open(avatar_directory(options.avatar, context), media_limits(context));
  const AvatarClip speech = speaking_clip(avatar.info());
  if (speech.frames < avatar.info().frames)
    log::warn(
        "MuseTalk's avatars have one clip: only the clip for speech is exported",
        {{"avatar", avatar.info().id}, {"clips", std::to_string(avatar.info().clips.size())}});
  if (!has_latents(avatar.info()))
    avatar.ensure_latents(latents_of_model(models_directory(options.models, context)),
                          LatentCache::of_user(), context.progress, context.stop);
  navtalk::export_avatar(avatar, options.folder, options.force, context.progress, context.stop);
  context.clear_progress();
  if (context.json) {
    nlohmann::ordered_json json = {{"id", avatar.info().id}};
    put_path(json, "directory", options.folder);
    json["frames"] = speech.frames;
    context.out.json(json);
  } else {
    context.out.print("{} is in {}\n", avatar.info().id, printable(options.folder.native()));
  }
  return 0;
}

}  // namespace navtalk::cmd
