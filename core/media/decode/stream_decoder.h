// Opens a media file and decodes its best stream of one kind, frame by frame in presentation order.
// One thread owns it. Private to core/media.
#pragma once

#include <filesystem>
#include <optional>
#include <stop_token>

#include "core/base/error.h"
#include "core/base/unique_fd.h"
#include "core/media/decode/byte_source.h"
#include "core/media/ffmpeg.h"
#include "core/media/limits.h"

namespace navtalk::media {

class StreamDecoder {
 public:
  // What to do about a damaged or truncated file.
  enum class Damage {
    refuse,      // Error{invalid} at the first sign
    cut_at_end,  // what was decoded is taken if nothing decodable follows the damage
  };
  struct Options {
    std::filesystem::path path;
    UniqueFd file = {};  // what is read where it is open already; `path` then names it
    AVMediaType type = AVMEDIA_TYPE_AUDIO;
    Damage damage = Damage::refuse;
    std::stop_token stop = {};
    MediaLimits limits = {};
  };

  // Error{not_found} for a missing file, Error{invalid} without a stream that can be decoded, or
  // with one that exceeds the limits.
  explicit StreamDecoder(Options options);

  const AVFormatContext& container() const { return *input_; }
  const AVStream& stream() const { return *stream_; }
  const AVCodecContext& codec() const { return *codec_; }

  // Fills `frame`; false at the end. Error{invalid} names the file and the time of the damage, or the
  // limit that is exceeded; errors of throw_if_no_memory().
  bool next(AVFrame& frame);
  // After the end: what was forgiven at it, if anything.
  const std::optional<Error>& damage() const { return damage_; }

  // A timestamp of this stream in seconds after the stream's start.
  double seconds(std::int64_t timestamp) const;

 private:
  void open_input();
  void open_codec();
  int read_packet();  // the next one of this stream
  void feed();        // one packet, or the end, into the decoder
  void check_end();
  void check_length();
  bool is_wav() const;
  void failed(int error_code);  // of reading or decoding
  void damaged(const std::string& what);

  Options options_;
  ByteSource source_;
  InputPtr input_;
  AVStream* stream_ = nullptr;
  CodecPtr codec_;
  PacketPtr packet_;
  int packets_ = 0, frames_ = 0;
  double read_until_s_ = 0;      // end of what was read, over all streams
  double position_s_ = 0;        // of the newest packet, for messages
  std::optional<Error> damage_;  // forgiven as long as no later packet decodes
  int damaged_packet_ = 0;
};

}  // namespace navtalk::media
