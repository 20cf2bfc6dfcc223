#include "server/worker/rendered_avatar.h"

#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "avatars/live/clip_timeline.h"
#include "core/media/encode/opus_stream.h"
#include "core/media/speech_stream.h"

namespace navtalk::server {
namespace {

constexpr const char* k_voice = "en-us+f3";  // of avatars that have none of their own

class RenderedAvatar : public LiveAvatar {
 public:
  explicit RenderedAvatar(std::shared_ptr<LivePictures> pictures)
      : pictures_(std::move(pictures)),
        timeline_(pictures_->avatar().info(), pictures_->avatar().transitions()) {}

  LiveVideo video() const override {
    return {
        .codec = pictures_->codec(), .width = pictures_->width(), .height = pictures_->height()};
  }
  std::shared_ptr<EngineAvatar> for_engine() override { return pictures_; }
  ClipFrame show(std::chrono::microseconds time, bool speaks) override {
    return timeline_.at(time, speaks);
  }
  bool play(const std::string& clip) override { return timeline_.play(clip); }
  std::optional<std::string> action() const override { return timeline_.action(); }
  std::vector<std::string> actions() const override {
    return action_names(pictures_->avatar().info().clips);
  }
  I420Picture still(const ClipFrame& frame) override { return pictures_->still(frame); }
  EncodedPicture encode(const VideoPicture& picture, bool key) override {
    const AccessUnit unit = pictures_->encode(picture, key);
    return {.bytes = std::string(unit.bytes.begin(), unit.bytes.end()), .key = unit.key};
  }
  std::vector<CodedSound> code_sound(std::span<const std::int16_t> samples, int rate_hz,
                                     bool ends) override {
    if (!opus_) opus_.emplace(rate_hz);
    std::vector<CodedSound> coded;
    const auto add = [&coded](const std::vector<OpusPacket>& packets) {
      for (const OpusPacket& packet : packets) {
        coded.push_back(
            {.bytes = std::string(packet.bytes.begin(), packet.bytes.end()), .after = packet.time});
      }
    };
    if (!samples.empty()) add(opus_->encode(samples));
    if (ends) add(opus_->finish());
    return coded;
  }
  void speak(const std::string& text, const std::string& voice, int rate_hz, const TakeSound& take,
             const std::stop_token& stop) override {
    const std::string& own = pictures_->avatar().info().voice;
    speak_in_parts(text, !voice.empty() ? voice : own.empty() ? k_voice : own, rate_hz, take, stop);
  }

 private:
  const std::shared_ptr<LivePictures> pictures_;
  ClipTimeline timeline_;
  std::optional<OpusStream> opus_{};
};

}  // namespace

std::shared_ptr<LiveAvatar> rendered_avatar(std::shared_ptr<LivePictures> pictures) {
  return std::make_shared<RenderedAvatar>(std::move(pictures));
}

}  // namespace navtalk::server
