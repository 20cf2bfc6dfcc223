// What one client of `bench serve` sent and received in a session, and what follows from it. Pure:
// a recording is filled by LiveClient, or by a test.
//
//   sent      |--message--|--message--|--message--|            on the client's clock
//   sounds              |----frame----|----frame----|          their samples, counted as sent
//   pictures            |  0  |  1  |  2  |  3  |              time: on the session's clock
#pragma once

#include <chrono>
#include <cstdint>
#include <vector>

#include "core/base/frame_rate.h"

namespace navtalk::cmd {

using SteadyTime = std::chrono::steady_clock::time_point;

struct SentSound {
  std::uint64_t first = 0;  // the number of its first sample in the session
  std::uint32_t samples = 0;
  SteadyTime at{};  // before it was handed to the socket
};

struct ReceivedSound {
  std::uint64_t first = 0;  // as above: samples come out in order, and some were left out, perhaps
  std::uint32_t samples = 0;
  bool discontinuity = false;
  std::chrono::microseconds time{};  // of presentation, on the session's clock
  SteadyTime at{};
};

struct ReceivedPicture {
  std::uint32_t bytes = 0;  // of the access unit
  FrameRate fps = 25;       // the session's rate when it came
  bool key = false, speaks = false;
  std::chrono::microseconds time{};
  SteadyTime at{};
};

struct Recording {
  int rate_hz = 16000;
  std::vector<SentSound> sent{};
  std::vector<ReceivedSound> sounds{};
  std::vector<ReceivedPicture> pictures{};
};

// For each millisecond of the sound that came back: the arrival of the last picture whose
// presentation time is not after that of the sample, minus the sending time of the message that held
// the sample. Sound whose picture had not come yet when the recording ended is left out.
std::vector<float> latencies_ms(const Recording& recording);

struct PictureFigures {
  std::uint64_t count = 0, key = 0, bytes = 0;
  std::uint64_t left_out = 0;      // at the session's rate, no picture came for these times
  double per_second = 0;           // between the first arrival and the last one
  std::uint64_t worst_second = 0;  // the fewest that arrived in one of the whole seconds
  double longest_gap_ms = 0;       // between two arrivals
};
PictureFigures picture_figures(const Recording& recording);

struct SoundFigures {
  std::uint64_t sent = 0, returned = 0;  // samples
  std::uint64_t pauses = 0;  // the sound stopped and went on later, though it came without a pause
  double paused_ms = 0;      // together
};
SoundFigures sound_figures(const Recording& recording);

// How sound and pictures of equal presentation time arrive, in windows of 10 s: the median of arrival
// minus presentation time of the sound, minus that of the pictures. Positive: the sound comes later.
struct Sync {
  int windows = 0;
  double first_ms = 0, last_ms = 0;
  double most_ms = 0;  // the largest value without its sign
  // By how much pictures came later, at the end, against their presentation time than at the start:
  // the fastest of each window, so that the load of a moment does not count.
  double clock_ms = 0;
};
Sync sync_of(const Recording& recording);

}  // namespace navtalk::cmd
