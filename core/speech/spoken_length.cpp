#include "core/speech/spoken_length.h"

#include <unistd.h>

#include <array>
#include <cerrno>
#include <cmath>
#include <cstdint>
#include <span>
#include <thread>
#include <utility>

#include "core/process/pipe.h"
#include "core/speech/espeak.h"

namespace navtalk {
namespace {

// Counts a WAV file as espeak-ng writes it: a header of 44 bytes, whose bytes 28 to 31 are the bytes of a second, and samples of
// 16 bits.
class SoundCounter {
 public:
  explicit SoundCounter(double most_s) : most_s_(most_s), reader_([this] { read(); }) {}
  ~SoundCounter() { pipe_.write.reset(); }  // the reader ends behind the last writer
  SoundCounter(const SoundCounter&) = delete;
  SoundCounter& operator=(const SoundCounter&) = delete;

  const UniqueFd& sound() const { return pipe_.write; }
  // Before the next two, when nobody else writes any more.
  void finish() {
    pipe_.write.reset();
    reader_.join();
  }
  double seconds() const {
    const unsigned bytes_a_second =
        header_[28] | header_[29] << 8U | header_[30] << 16U | header_[31] << 24U;
    if (bytes_ <= header_.size() || bytes_a_second == 0) return 0;
    return static_cast<double>(bytes_ - header_.size()) / bytes_a_second;
  }
  bool too_long() const { return seconds() > most_s_; }
  bool silent() const { return silent_; }

 private:
  void read() {
    std::array<unsigned char, 16'384> part{};
    while (!too_long()) {
      const ssize_t n = ::read(pipe_.read.value(), part.data(), part.size());
      if (n < 0 && errno == EINTR) continue;
      if (n <= 0) return;
      take(std::span(part).first(static_cast<std::size_t>(n)));
    }
    pipe_.read.reset();  // whoever goes on writing is ended by SIGPIPE
  }
  void take(std::span<const unsigned char> part) {
    for (const unsigned char byte : part) {
      if (bytes_ < header_.size()) {
        header_[bytes_] = byte;
      } else if (bytes_ % 2 == 0) {
        low_ = byte;
      } else {
        const auto sample = static_cast<std::int16_t>(low_ | byte << 8U);
        silent_ = silent_ && std::abs(sample / 32'768.0F) < k_quietest_speech;
      }
      ++bytes_;
    }
  }

  const double most_s_;
  Pipe pipe_ = make_pipe();
  std::array<unsigned char, 44> header_{};
  std::uint64_t bytes_ = 0;
  unsigned low_ = 0;  // of a sample whose other byte has not come
  bool silent_ = true;
  std::jthread reader_;  // of what stands above, until it is joined
};

}  // namespace

SpokenLength measure_spoken(const std::string& text, const std::string& voice, Markup markup,
                            double most_s, const std::stop_token& stop) {
  SoundCounter counter(most_s);
  RunResult ran = speak_into(counter.sound(), text, voice, markup, stop);
  counter.finish();
  return {.seconds = counter.seconds(),
          .silent = counter.silent(),
          .too_long = counter.too_long(),
          .ran = std::move(ran)};
}

}  // namespace navtalk
