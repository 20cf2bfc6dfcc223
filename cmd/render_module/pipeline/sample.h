// A picture and a sound of the bench's own, for faces that are compared: none of its nets' times depends on them.
#pragma once

#include <vector>

#include "gpu/engine/engine_backend.h"
#include "gpu/model/model.h"

namespace navtalk::cmd {

// Faces of one sample.
inline constexpr int k_sample_faces = 4;

// [K,8,32,32]: what `encoder`, in fp32, makes of a drawn face.
NdArray<float> sample_latents(Model& encoder);
// What the lips hear at K moments of a sound like a voice: windows [K,T,D] of `model`'s own whisper.
NdArray<float> sample_windows(Model& model);
// What a live session hears for one picture: four seconds of past and a fifth of a second of future.
SoundWindow live_sound();

}  // namespace navtalk::cmd
