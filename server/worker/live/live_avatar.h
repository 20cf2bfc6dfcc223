// What a live session asks of the code that renders, besides the nets (gpu/engine/): pictures without generated lips,
// pictures as video, and the sound of a text. The real one is in server/worker/rendered_avatar.cpp; a test gives one
// of its own.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <vector>

#include "core/media/speech_stream.h"
#include "gpu/engine/engine_backend.h"

namespace navtalk::server {

// What a client asks for in session.start.
struct LiveRequest {
  int width = 0;          // pixels; 0: the avatar's own. The height follows it
  int kbit_per_s = 2500;  // of video, at most
};

struct LiveVideo {
  std::string codec{};  // as RFC 6381 names it
  int width = 0, height = 0;
};

struct EncodedPicture {
  std::string bytes{};  // an access unit
  bool key = false;
};

struct CodedSound {
  std::string bytes{};                // a packet of Opus
  std::chrono::microseconds after{};  // the beginning of the sound: when it is heard
};

// still(), encode() and the FinishPicture of its requests are called one at a time, in the order of the pictures.
class LiveAvatar {
 public:
  virtual ~LiveAvatar() = default;
  virtual LiveVideo video() const = 0;
  // For requests to the inference engine.
  virtual std::shared_ptr<EngineAvatar> for_engine() = 0;
  // What the clips show at that time of the session, later than the last one; also while others of its functions run.
  virtual ClipFrame show(std::chrono::microseconds time, bool speaks) = 0;
  // Has one of `actions` played, or says with "idle" or "listening" what silence shows. False: there is no such clip.
  // Called as show() is.
  virtual bool play(const std::string& clip) = 0;
  virtual std::optional<std::string> action() const = 0;  // that is seen; called as show() is
  virtual std::vector<std::string> actions() const = 0;
  // The clips as they are.
  virtual I420Picture still(const ClipFrame& frame) = 0;
  virtual EncodedPicture encode(const VideoPicture& picture, bool key) = 0;
  // What is complete of a sound in Opus, which begins with the first call and after one with `ends`. One call at a time,
  // on any thread.
  virtual std::vector<CodedSound> code_sound(std::span<const std::int16_t> samples, int rate_hz,
                                             bool ends) = 0;
  // Gives the sound of a spoken text at that rate to `take`, on the caller's thread, which may be any: each part as soon as it
  // is made. `voice`: the synthesiser's name of one; "": the avatar's. Error{not_found} without the synthesiser or that voice,
  // Error{invalid} for a text without anything to speak; any other error may follow some of the sound. A stop request ends it
  // as throw_if_stopped.
  virtual void speak(const std::string& text, const std::string& voice, int rate_hz,
                     const TakeSound& take, const std::stop_token& stop) = 0;
};

}  // namespace navtalk::server
