// The speech detector's net: a dense layer, two gated recurrent layers, and one answer a frame. The weights are read once and
// shared; a state is one sound's. tools/speech_detector/net.py is the twin that trains them.
#pragma once

#include <cstddef>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "core/voice_activity/sound_features.h"

namespace navtalk {

class DetectorNet {
 public:
  // Frames: the answer to a frame is about the one so many frames before.
  static constexpr int k_delay = 7;

  struct State {
    std::vector<float> first{}, second{};  // empty: as new
  };

  // Of a safetensors file with tensors in half precision; a broken one aborts.
  explicit DetectorNet(std::span<const unsigned char> safetensors);
  // How likely somebody speaks, 0 to 1.
  float operator()(State& state, const SoundFeatures::Frame& heard) const;
  // The one that is compiled in.
  static const DetectorNet& trained();

 private:
  // y = A x + b; columns of A follow each other, so that loops run over outputs.
  struct Affine {
    std::size_t outputs = 0;
    std::vector<float> columns{}, bias{};

    std::vector<float> operator()(std::span<const float> x) const;
  };
  struct Gated {
    Affine input{}, state{};  // outputs: reset, update and new, each as many as the state has

    void step(std::vector<float>& state_now, std::span<const float> x) const;
  };

  Affine dense_{}, answer_{};
  Gated first_{}, second_{};
};

}  // namespace navtalk
