#include "core/media/speech_stream.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cerrno>
#include <cmath>
#include <cstring>
#include <exception>
#include <optional>
#include <span>
#include <string_view>
#include <thread>
#include <utility>

#include "core/base/error.h"
#include "core/files/whole_file.h"
#include "core/media/decode/resampler.h"
#include "core/media/speech.h"
#include "core/process/pipe.h"
#include "core/speech/espeak.h"
#include "core/speech/voices.h"

namespace navtalk {
namespace {

// espeak-ng's program, which speaks into a pipe on a thread of its own.
class Speaker {
 public:
  Speaker(const std::string& text, const std::string& voice, const std::stop_token& stop)
      : thread_([this, &text, &voice, &stop] {
          try {
            result_ = speak_into(pipe_.write, text, voice, Markup::none, stop);
          } catch (...) {
            problem_ = std::current_exception();
          }
          pipe_.write.reset();  // the sound ends here
        }) {}
  ~Speaker() { pipe_.read.reset(); }  // whoever goes on writing is ended by SIGPIPE
  Speaker(const Speaker&) = delete;
  Speaker& operator=(const Speaker&) = delete;

  // As many bytes as there are, at most as many as `bytes` holds; 0 at the end.
  std::size_t read(std::span<char> bytes) {
    for (;;) {
      const ssize_t n = ::read(pipe_.read.value(), bytes.data(), bytes.size());
      if (n >= 0) return static_cast<std::size_t>(n);
      if (errno != EINTR)
        throw Error(Code::failed, "reading from espeak-ng: " + system_message(errno));
    }
  }
  // Once all was read. Throws what speak_into() threw.
  RunResult finish() {
    thread_.join();
    if (problem_) std::rethrow_exception(problem_);
    return std::move(result_);
  }

 private:
  Pipe pipe_ = make_pipe();
  RunResult result_{};
  std::exception_ptr problem_{};
  std::jthread thread_;  // of what stands above, until it is joined
};

constexpr int k_longest_part_s = 10;

std::int16_t pcm_of(float sample) {
  return static_cast<std::int16_t>(std::lround(std::clamp(sample * 32768.0F, -32768.0F, 32767.0F)));
}

// What a WAV file as espeak-ng writes it becomes: a header of 44 bytes, whose bytes 24 to 27 are the rate, and samples.
class SpokenParts {
 public:
  SpokenParts(int rate_hz, const TakeSound& take) : rate_hz_(rate_hz), take_(take) {}

  // False: no more is wanted.
  bool add(std::string_view bytes) {
    bytes_ += bytes;
    if (!resampler_ && !start()) return true;
    const std::size_t whole = bytes_.size() / sizeof(std::int16_t);
    mono_.resize(whole);
    for (std::size_t i = 0; i < whole; ++i) {
      std::int16_t sample = 0;
      std::memcpy(&sample, bytes_.data() + i * sizeof sample, sizeof sample);
      mono_[i] = static_cast<float>(sample) / 32768.0F;
    }
    bytes_.erase(0, whole * sizeof(std::int16_t));
    spoken_ = spoken_ || !is_silent(mono_);
    resampler_->add(mono_, ready_);
    return !spoken_ || ready_.size() < static_cast<std::size_t>(rate_hz_) || give();
  }
  // The rest.
  void finish() {
    if (!resampler_ || !spoken_) return;
    resampler_->finish(ready_, given_);
    if (!ready_.empty()) give();
  }
  bool spoken() const { return spoken_; }

 private:
  bool start() {
    constexpr std::size_t k_header = 44, k_rate = 24;
    static_assert(std::endian::native == std::endian::little);
    if (bytes_.size() < k_header) return false;
    std::int32_t from_hz = 0;
    std::memcpy(&from_hz, bytes_.data() + k_rate, sizeof from_hz);
    resampler_.emplace(from_hz, rate_hz_);
    bytes_.erase(0, k_header);
    return true;
  }
  // In bounded parts: there may be minutes of silence before the first word.
  bool give() {
    const auto most = static_cast<std::size_t>(k_longest_part_s * rate_hz_);
    bool wanted = true;
    for (std::size_t at = 0; wanted && at < ready_.size(); at += most) {
      const std::span<const float> samples =
          std::span(ready_).subspan(at, std::min(most, ready_.size() - at));
      std::vector<std::int16_t> part(samples.size());
      std::ranges::transform(samples, part.begin(), pcm_of);
      given_ += part.size();
      wanted = take_(std::move(part));
    }
    ready_.clear();
    return wanted;
  }

  const int rate_hz_;
  const TakeSound& take_;
  std::string bytes_{};  // the header, or less than a sample
  std::vector<float> mono_{}, ready_{};
  std::optional<media::Resampler> resampler_{};
  std::size_t given_ = 0;
  bool spoken_ = false;  // something that is heard
};

}  // namespace

void speak_in_parts(const std::string& text, const std::string& voice, int rate_hz,
                    const TakeSound& take, const std::stop_token& stop) {
  check_voice_variant(voice, stop);
  SpokenParts parts(rate_hz, take);
  std::array<char, 16'384> bytes{};
  Speaker speaker(text, voice, stop);
  while (const std::size_t count = speaker.read(bytes)) {
    if (!parts.add({bytes.data(), count})) return;
  }
  const RunResult ran = speaker.finish();
  parts.finish();
  check_espeak(ran);
  if (!parts.spoken()) throw Error(Code::invalid, "the text holds nothing that can be spoken");
}

}  // namespace navtalk
