#include "core/media/measure_sound.h"

#include <new>
#include <vector>

#include "core/base/error.h"
#include "core/media/decode/mono_samples.h"
#include "core/media/decode/sound_count.h"
#include "core/media/decode/stream_decoder.h"

namespace navtalk {
namespace {

MeasuredSound measured(UniqueFd file, const std::filesystem::path& name, const MediaLimits& limits,
                       const std::stop_token& stop) {
  media::StreamDecoder decoder({.path = name,
                                .file = std::move(file),
                                .type = AVMEDIA_TYPE_AUDIO,
                                .damage = media::StreamDecoder::Damage::cut_at_end,
                                .stop = stop,
                                .limits = limits});
  media::SoundCount count(name, limits);
  const media::FramePtr frame = media::make_frame();
  std::vector<float> mono;
  int channels = 0;
  while (decoder.next(*frame)) {
    count.add(*frame);
    channels = frame->ch_layout.nb_channels;
    mono.clear();
    try {
      media::append_mono(*frame, mono);
    } catch (const Error& error) {
      throw error.within(name.string());
    }
  }
  count.finish();
  return {.codec = avcodec_get_name(decoder.codec().codec_id),
          .rate_hz = count.rate_hz(),
          .channels = channels,
          .duration_s = count.seconds()};
}

}  // namespace

std::variant<MeasuredSound, RefusedSound> measure_sound(UniqueFd file, const std::string& name,
                                                        const MediaLimits& limits,
                                                        const std::stop_token& stop) {
  try {
    return measured(std::move(file), name, limits, stop);
  } catch (const BeyondLimit& error) {
    return RefusedSound{error.rule(), error.message()};
  } catch (const Error& error) {
    if (error.code() != Code::invalid) throw;
    return RefusedSound{"codec", error.message()};
  } catch (const std::bad_alloc&) {
    return RefusedSound{"decoding", name + " takes too much memory to decode"};
  }
}

}  // namespace navtalk
