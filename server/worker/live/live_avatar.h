// What a live session asks of the code that renders: lips for a picture, the picture as video, and
// the sound of a text. The real one is in server/worker/render_engine.cpp; a test gives one of its own.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/base/frame_rate.h"
#include "core/tensor/ndarray.h"

namespace navtalk::server {

inline constexpr FrameRate k_live_rate = 25;  // pictures a second, whatever the avatar's clip has

// What a client asks for in session.start.
struct LiveRequest {
  int width = 0;          // pixels; 0: the avatar's own. The height follows it
  int kbit_per_s = 2500;  // of video, at most
};

struct LiveVideo {
  std::string codec{};  // as RFC 6381 names it
  int width = 0, height = 0;
};

struct LivePicture {
  std::int64_t number = 0;  // of the session, from 0, k_live_rate a second
  float lips = 0;           // how much of the generated mouth is seen: 0 nothing, 1 all of it
  bool key = false;         // a key frame
  // Mono PCM around the picture, where lips are wanted: what came before, from `first` on what is
  // heard while it is shown, and what follows, as far as that is known.
  std::vector<std::int16_t> sound{};
  std::size_t first = 0;
  int rate_hz = 16000;
};

struct EncodedPicture {
  std::string bytes{};  // an access unit
  bool key = false;
};

class LiveAvatar {
 public:
  virtual ~LiveAvatar() = default;
  virtual LiveVideo video() const = 0;
  // The generated face [1,256,256,3], BGR; nullopt where the clip shows none. For pictures with
  // lips, on the work loop's thread.
  virtual std::optional<NdArray<std::uint8_t>> face(const LivePicture& picture) = 0;
  // In the order of the pictures; one call at a time, on any thread but the work loop's.
  virtual EncodedPicture encode(const LivePicture& picture,
                                const std::optional<NdArray<std::uint8_t>>& face) = 0;
  // The sound of a spoken text at that rate, on any thread. `voice`: the synthesiser's name of one;
  // "": the avatar's. Error{not_found} without the synthesiser or that voice, Error{invalid} for a
  // text without anything to speak.
  virtual std::vector<std::int16_t> speak(const std::string& text, const std::string& voice,
                                          int rate_hz) = 0;
};

}  // namespace navtalk::server
