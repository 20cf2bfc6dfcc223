// Which encoder live video gets: NVENC of the device's GPU where it is there and has room, else libx264. Any thread.
//
//   NVENC, from the GPU's memory ──fails──► NVENC, pictures through the host ──fails──► libx264
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "core/media/encode/h264_stream.h"

namespace navtalk {

class LiveEncoders {
 public:
  // Of the whole program, in words that an operator reads.
  using Tell = std::function<void(const std::string&)>;

  LiveEncoders() = default;  // libx264
  // `asked`: nullopt for what is there. `gpu`: of the nets; nullopt: they compute on the CPU, and so does the encoder unless
  // NVENC is asked for, which is then the first GPU's.
  // Error{invalid} where NVENC is asked for and cannot be had. Codes a picture to see whether it can be had. Tells once which
  // encoder it will be, and why.
  LiveEncoders(std::optional<H264Encoder> asked, std::optional<int> gpu, Tell tell);

  // The GPU from whose memory pictures are coded, where a stream has room; nullopt: they come from the host.
  std::optional<int> codes_from() const;
  // Of these, `options.encoder`, `options.gpu` and `options.source` are chosen here. A stream for which NVENC has no room (a GPU
  // may bound their number, and pictures may be too small for it) is libx264's, and that is told once, with every reason. Errors of
  // H264Stream.
  std::unique_ptr<H264Stream> open(H264Options options) const;

 private:
  enum class Way { device, host, x264 };  // the best first

  std::unique_ptr<H264Stream> open(H264Options options, Way way) const;
  std::string why_not(Way way) const;  // empty: it can be had

  int gpu_ = 0;
  Tell tell_{};
  Way first_ = Way::x264;
};

// "x264", "nvenc"; nullopt for "auto"; Error{usage} for anything else.
std::optional<H264Encoder> parse_h264_encoder(std::string_view text);

}  // namespace navtalk
