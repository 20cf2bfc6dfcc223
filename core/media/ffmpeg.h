// What the media files share of FFmpeg: owned handles and errors. Private to core/media.
#pragma once

extern "C" {
#include <libavcodec/avcodec.h>
#include <libavformat/avformat.h>
#include <libavutil/audio_fifo.h>
#include <libswresample/swresample.h>
#include <libswscale/swscale.h>
}

#include <optional>
#include <string>

#include "core/base/cptr.h"
#include "core/base/frame_rate.h"

namespace navtalk::media {

using FramePtr = CPtrPtr<AVFrame, av_frame_free>;
using PacketPtr = CPtrPtr<AVPacket, av_packet_free>;
using CodecPtr = CPtrPtr<AVCodecContext, avcodec_free_context>;
using InputPtr = CPtrPtr<AVFormatContext, avformat_close_input>;
using ScalerPtr = CPtr<SwsContext, sws_freeContext>;
using ResamplerPtr = CPtrPtr<SwrContext, swr_free>;
using AudioFifoPtr = CPtr<AVAudioFifo, av_audio_fifo_free>;

FramePtr make_frame();
PacketPtr make_packet();

// nullopt for a rate that a container does not say.
std::optional<FrameRate> frame_rate(AVRational rate);

// FFmpeg prints to standard error by default. From the first call on, it keeps each thread's last
// error line for reason() instead. Every constructor that opens something calls it.
void capture_log();

// Whether this thread has logged an error since capture_log() or reason(), for calls of FFmpeg that log one and return success.
bool error_logged();

// What an AVERROR code means, with the line that FFmpeg would have printed about it.
std::string reason(int error_code);

}  // namespace navtalk::media
