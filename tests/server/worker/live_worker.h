// A worker with live media over real connections, for the tests of this folder: its avatar's access
// units say which picture they show, and with how much of the lips.
#pragma once

#include <catch2/catch.hpp>
#include <cstring>
#include <future>
#include <semaphore>
#include <thread>

#include "core/base/device_lost.h"
#include "core/base/error.h"
#include "core/base/out_of_memory.h"
#include "server/protocol/media_frame.h"
#include "server/worker/worker.h"
#include "tests/server/http/client.h"
#include "tests/synthetic_voice.h"

namespace navtalk::tests {

using namespace server;
using namespace std::chrono_literals;

// What a test lets the nets do, and what they should not have seen: the worker's threads make no checks.
struct NetsScript {
  std::atomic<bool> breaks = false;
  std::atomic<bool> device_lost = false, lost_when_opened = false;
  std::atomic<bool> without_memory = false;  // until the nets are loaded again
  std::atomic<bool> lost_when_unloaded = false;
  std::atomic<int> loads = 0;
  std::atomic<std::chrono::milliseconds> takes{};
  std::atomic<bool> overtaken = false;  // every second picture takes longer than the next one
  std::atomic<std::chrono::milliseconds> stands_still{};  // once, all of the worker's I/O
  std::atomic<std::thread::id> spoke_on{};                // codes no pictures
  std::atomic<int> held_width = 0;       // pictures that wide are coded when this changes
  std::atomic<int> held = 0;             // that wait for it, or waited
  std::counting_semaphore<> goes_on{0};  // the voice "paused", with its next second
  std::atomic<int> wrong = 0;
};

// Says its time and whether it has lips.
inline I420Picture picture_of(std::chrono::microseconds time, bool lips) {
  I420Picture picture(lips ? 16 : 8, 8);
  const std::int64_t count = time.count();
  std::memcpy(picture.bytes.data(), &count, sizeof count);
  return picture;
}

class ScriptedNets : public EngineBackend {
 public:
  explicit ScriptedNets(NetsScript& script) : script_(script) {}
  Made make(std::span<const PictureRequest> batch, const std::function<void()>& heard) override {
    heard();
    std::this_thread::sleep_for(script_.takes.load());
    if (script_.overtaken && batch.front().time / 40ms % 2 == 0) std::this_thread::sleep_for(60ms);
    if (script_.without_memory) throw OutOfMemory("the device is full");
    if (script_.device_lost) throw DeviceLost("an illegal memory access was encountered");
    if (script_.breaks) throw Error(Code::failed, "the nets are broken");
    Made made;
    for (const PictureRequest& request : batch) {
      if (request.sound.samples.size() < request.sound.first || request.lips <= 0) ++script_.wrong;
      if (request.frame.index != request.time.count()) ++script_.wrong;
      made.pictures.emplace_back([time = request.time] { return picture_of(time, true); });
    }
    return made;
  }

 private:
  NetsScript& script_;
};

class ScriptedAvatar : public LiveAvatar {
 public:
  explicit ScriptedAvatar(NetsScript& script, int width = 0) : script_(script), width_(width) {}
  LiveVideo video() const override { return {.codec = "avc1.42C01F", .width = 320, .height = 240}; }
  std::shared_ptr<EngineAvatar> for_engine() override {
    std::this_thread::sleep_for(script_.stands_still.exchange(0ms));
    return nullptr;
  }
  // The frame's number is its time.
  ClipFrame show(std::chrono::microseconds time, bool) override {
    if (wave_left_ > 0) --wave_left_;
    return {.index = time.count()};
  }
  bool play(const std::string& clip) override {
    if (clip != "wave") return false;
    wave_left_ = 5;
    return true;
  }
  std::optional<std::string> action() const override {
    return wave_left_ > 0 ? std::optional<std::string>("wave") : std::nullopt;
  }
  std::vector<std::string> actions() const override { return {"wave"}; }
  I420Picture still(const ClipFrame& frame) override {
    return picture_of(std::chrono::microseconds(frame.index), false);
  }
  EncodedPicture encode(const VideoPicture& given, bool key) override {
    if (width_ > 0 && script_.held_width == width_) {
      ++script_.held;
      script_.held_width.wait(width_);
    }
    const I420Picture picture = on_host(given);
    std::int64_t time = 0;
    std::memcpy(&time, picture.bytes.data(), sizeof time);
    if (time <= last_) ++script_.wrong;
    if (std::this_thread::get_id() == script_.spoke_on) ++script_.wrong;
    last_ = time;
    return {.bytes = std::to_string(time) + (picture.width == 16 ? " lips" : ""),
            .key = key || time == 0};
  }
  // The samples as they are, so that a test sees whether all of them came. As in Opus, the first call of a sound gives
  // nothing.
  std::vector<CodedSound> code_sound(std::span<const std::int16_t> samples, int,
                                     bool ends) override {
    std::vector<CodedSound> coded;
    const bool first = !std::exchange(codes_, !ends);
    uncoded_ += bytes_of(samples);
    if (!uncoded_.empty() && (!first || ends)) {
      const std::size_t count = uncoded_.size() / sizeof(std::int16_t);
      coded.push_back({std::exchange(uncoded_, {}), sound_});
      sound_ += std::chrono::microseconds(count * 1'000'000 / 16'000);
    }
    if (ends) coded.push_back({"end", std::exchange(sound_, 0ms)});
    return coded;
  }
  // A hundred samples a letter; a thousand of the voice "slow".
  // A second at a time. The voice "paused" waits after each.
  void speak(const std::string& text, const std::string& voice, int rate_hz, const TakeSound& take,
             const std::stop_token& stop) override {
    script_.spoke_on = std::this_thread::get_id();
    while (voice == "endless" && !stop.stop_requested()) std::this_thread::sleep_for(5ms);
    if (voice == "nobody") throw Error(Code::not_found, "/usr/share has no such voice");
    if (voice == "broken") throw Error(Code::failed, "/usr/bin has a broken synthesiser");
    if (rate_hz != 16000) ++script_.wrong;
    std::size_t rest = (voice == "slow" ? 1000 : 100) * text.size();
    for (std::size_t part = 0; rest > 0; rest -= part) {
      part = std::min<std::size_t>(rest, 16'000);
      if (!take(std::vector<std::int16_t>(part, std::int16_t{1234}))) return;
      if (voice == "paused") script_.goes_on.acquire();
    }
  }

 private:
  NetsScript& script_;
  const int width_;  // that was asked for
  std::int64_t last_ = -1;
  std::chrono::microseconds sound_{};
  std::string uncoded_{};
  bool codes_ = false;
  int wave_left_ = 0;  // pictures
};

class LiveWorker {
 public:
  explicit LiveWorker(int lanes = 1, int slots = 2)
      : worker_({.avatar = "ada", .slots = slots}, engine(lanes)) {
    result_ = std::async(std::launch::async, [this] { worker_.run(stop_.get_token()); });
    REQUIRE(eventually([&] { return ask("GET", url() + "/healthz").body.at("state") == "idle"; }));
  }
  ~LiveWorker() {
    loaded.release();
    let_go();
    stop_.request_stop();
    result_.wait();
    CHECK(nets.wrong == 0);
  }
  std::string url() const { return worker_.url(); }
  void let_go() {
    nets.held_width = 0;
    nets.held_width.notify_all();
  }
  // Throws what run() threw.
  bool ends() {
    if (result_.wait_for(60s) != std::future_status::ready) return false;
    std::future<void> over = std::exchange(result_, std::async(std::launch::deferred, [] {}));
    over.get();
    return true;
  }

  NetsScript nets;
  std::binary_semaphore loaded{0};  // the avatar "theo"

 private:
  Engine engine(int lanes) {
    return {.load = [this](const Heartbeat&) { ++nets.loads; },
            .unload =
                [this] {
                  if (nets.lost_when_unloaded) throw DeviceLost("the GPU has fallen off the bus");
                  nets.without_memory = false;
                },
            .prepare =
                [this](const std::string& avatar, const Progress&) {
                  if (avatar == "theo") loaded.acquire();
                  return AvatarSize{320, 240, 25};
                },
            .open_live = [this](const std::string&,
                                const LiveRequest& request) -> std::shared_ptr<LiveAvatar> {
              if (nets.lost_when_opened) throw DeviceLost("the encoder's GPU is gone");
              if (request.width > 1000) throw Error(Code::invalid, "too wide");
              return std::make_shared<ScriptedAvatar>(nets, request.width);
            },
            .backend = std::make_shared<ScriptedNets>(nets),
            .limits = lanes > 1 ? QueueLimits{.batch = 1} : QueueLimits(),
            .lanes = lanes};
  }
  std::stop_source stop_;
  Worker worker_;
  std::future<void> result_;
};

struct Media {
  MediaHeader header;
  std::string content;
};

// One user, who counts what comes and checks what always holds.
class User {
 public:
  explicit User(const LiveWorker& worker, const std::string& start = R"({"type":"session.start"})",
                const std::string& lease = "a")
      : socket_(worker.url(), "/v1/session?epoch=1&lease=" + lease) {
    socket_.send(start);
    ready = socket_.receive_json();
  }

  // The next frame: media is returned, an event kept in `event`. False when the session is over.
  bool receive() {
    media.reset();
    event = nullptr;
    const std::optional<Frame> frame = socket_.receive();
    if (!frame) return false;
    if (frame->text) {
      event = nlohmann::json::parse(frame->bytes);
      return true;
    }
    REQUIRE(frame->bytes.size() > 16);
    media.emplace();
    std::int64_t time = 0;
    media->header.kind = static_cast<MediaKind>(frame->bytes[0]);
    media->header.flags = static_cast<std::uint8_t>(frame->bytes[1]);
    std::memcpy(&media->header.sequence, frame->bytes.data() + 4, 4);
    std::memcpy(&time, frame->bytes.data() + 8, 8);
    media->header.time = std::chrono::microseconds(time);
    media->content = frame->bytes.substr(16);
    check_order();
    return true;
  }
  template <class Holds>
  bool until(const Holds& holds) {
    const auto end = std::chrono::steady_clock::now() + std::chrono::minutes(2);
    while (std::chrono::steady_clock::now() < end && receive()) {
      if (holds()) return true;
    }
    return false;
  }
  bool until_event(const std::string& type) {
    return until([&] { return event.is_object() && event.at("type") == type; });
  }
  bool until_picture(const std::function<bool(const Media&)>& holds) {
    return until([&] { return media && media->header.kind == MediaKind::video && holds(*media); });
  }
  void send(const std::string& text) { socket_.send(text); }
  void speak(const std::vector<std::int16_t>& samples) { socket_.send_binary(bytes_of(samples)); }
  void send_binary(const std::string& bytes) { socket_.send_binary(bytes); }
  int close_code() { return socket_.close_code(); }
  void expect_next(std::uint32_t next_sound, std::uint32_t next_picture) {
    last_sound_.next = next_sound;
    last_picture_.next = next_picture;
  }

  nlohmann::json ready{}, event{};
  std::optional<Media> media{};
  std::string sound{};

 private:
  // Sound and pictures count from 0, and their times grow. Sound is never missing; pictures are where this program had no
  // time to read, and are then told to be.
  void check_order() {
    const bool is_sound = media->header.kind != MediaKind::video;
    Last& last = is_sound ? last_sound_ : last_picture_;
    if (is_sound || (media->header.flags & media_flag::discontinuity) == 0)
      CHECK(media->header.sequence == last.next);
    else
      CHECK(media->header.sequence >= last.next);
    CHECK(media->header.time > last.time);
    last = {media->header.sequence + 1, media->header.time};
    if (is_sound) sound += media->content;
  }
  struct Last {
    std::uint32_t next = 0;
    std::chrono::microseconds time{-1};
  };
  SocketClient socket_;
  Last last_sound_{}, last_picture_{};
};

inline std::vector<std::int16_t> voice(std::size_t samples) { return synthetic_voice(samples); }

}  // namespace navtalk::tests
