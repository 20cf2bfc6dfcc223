// navtalk avatar import: MuseTalk's folders to avatars.
#include <nlohmann/json.hpp>

#include "avatars/exchange/import.h"
#include "cmd/avatar/report.h"
#include "cmd/render_module/bodies.h"
#include "cmd/render_module/media_limits.h"

namespace navtalk::cmd {

int import_avatar(const AvatarImportOptions& options, Context& context) {
  const AvatarInfo info = navtalk::import_avatar({.folder = options.folder,
                                                  .output = options.output,
                                                  .id = options.id,
                                                  .fps = options.fps,
                                                  .loop = options.loop,
                                                  .voice = options.voice,
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

}  // namespace navtalk::cmd
