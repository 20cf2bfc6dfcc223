// assets/speech_detector.safetensors, which the build compiles in.
#pragma once

#include <span>

namespace navtalk {

std::span<const unsigned char> trained_weights();

}  // namespace navtalk
