// What the nets hear of one live session: whisper's states around its pictures. A step of whisper costs the same whether
// it serves one picture or several, so it serves as many as it can: those of one batch, and where sound is known far
// ahead, as that of a synthesiser is, the next ones too. Used by one thread at a time.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "core/tensor/ndarray.h"
#include "gpu/engine/engine_backend.h"
#include "gpu/model/model.h"

namespace navtalk {

class LiveHearing {
 public:
  // A window [1,T,D] for each picture, before the positional table. The pictures are of one session, in the order of
  // their times. All hear what is known of the sound at the last of them; past of more than 30 s does not count.
  std::vector<NdArray<float>> windows(Model& model, std::span<const SoundWindow* const> pictures);

  // Steps of whisper so far.
  std::uint64_t steps() const { return steps_; }

 private:
  // Tokens are counted from the start of `sound`, which whisper hears as its segment's.
  struct Step {
    SoundWindow sound{};
    std::int64_t first = 0;   // token
    NdArray<float> states{};  // [n, rows of a token, D]
    bool shared = false;      // for later pictures too
  };

  void step(Model& model, const SoundWindow& sound, std::int64_t first, std::int64_t count);
  bool serves(const SoundWindow& sound) const;

  std::optional<Step> step_{};
  std::uint64_t steps_ = 0;
};

}  // namespace navtalk
