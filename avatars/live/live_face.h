// The generated face of one live picture: what the nets hear and see of it. Of the thread that owns
// the nets.
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "avatars/bundle/bundle.h"
#include "core/tensor/ndarray.h"
#include "gpu/model/model.h"

namespace navtalk {

inline constexpr int k_live_fps = 25;

// The clip's frame that picture `number` shows, by time.
std::int64_t live_frame(const Bundle& avatar, std::int64_t number);

// A face [1,256,256,3], BGR, for picture `number`; nullopt where the clip shows none. `sound`: mono
// PCM at `rate_hz`, of which samples from `first` on are heard while the picture is shown; those
// before it are the past, up to 30 s of which count, those after it are known in advance.
std::optional<NdArray<std::uint8_t>> live_face(Model& model, const Bundle& avatar,
                                               std::int64_t number,
                                               std::span<const std::int16_t> sound,
                                               std::size_t first, int rate_hz);

}  // namespace navtalk
