// What each video frame hears: whisper's context windows of a recording, made segment by segment
// (30 s) as frames are asked for, so that an hour of speech needs no more memory than a minute. Not
// thread-safe.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <vector>

#include "core/base/frame_rate.h"
#include "core/tensor/ndarray.h"
#include "gpu/model/model.h"

namespace navtalk {

class SpeechWindows {
 public:
  // `samples`: mono, 16 kHz. The model must outlive this object.
  SpeechWindows(Model& model, std::vector<float> samples, const FrameRate& fps);

  std::int64_t frame_count() const { return frame_count_; }
  // Windows [k, 10*(L+1), D] of the given frames, before the positional table. Frames may come in
  // any order, but segments before the last frame asked for are forgotten and made again when asked
  // for.
  NdArray<float> windows(std::span<const std::int64_t> frames);

 private:
  const NdArray<float>& segment_states(std::int64_t segment);

  Model& model_;
  std::vector<float> samples_;
  FrameRate fps_;
  std::int64_t frame_count_;
  std::int64_t token_count_;
  std::map<std::int64_t, NdArray<float>> segments_;  // by number: [1,1500,L+1,D]
};

}  // namespace navtalk
