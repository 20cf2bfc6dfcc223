#include "core/media/encode/sound_file.h"

#include "core/media/encode/muxer.h"
#include "core/media/encode/sound_track.h"

namespace navtalk {

void write_sound_file(const SoundFileOptions& options) {
  media::Muxer muxer({.path = options.output, .muxer = "wav"});
  media::SoundTrack sound({.file = options.source,
                           .start_s = options.start_s,
                           .stop = options.stop,
                           .limits = options.limits},
                          SoundCodec::pcm, muxer);
  muxer.start();
  sound.finish(options.duration_s);
  muxer.finish();
}

}  // namespace navtalk
