// MuseTalk's nets as the backend of the inference engine: sound and clip to generated faces. Its pictures are
// finished by the session's LivePictures.
#pragma once

#include <functional>
#include <span>

#include "gpu/engine/engine_backend.h"
#include "gpu/model/model.h"

namespace navtalk {

class LiveNets : public EngineBackend {
 public:
  // Runs `draw`, which draws so many faces, and may note what it takes. OutOfMemory where it takes too much.
  using Measured = std::function<void(std::size_t faces, const std::function<void()>& draw)>;

  // `model` gives the nets that are loaded; they stay for the time of a batch. `measured`: of warming up.
  explicit LiveNets(std::function<Model&()> model, Measured measured = {});

  // The avatar of each request of a session is a LivePictures. Faces of jobs are drawn in the same pass.
  Made make(std::span<const PictureRequest> batch, const std::function<void()>& heard) override;
  // Hears silence, and draws so many faces of it.
  void warm_up(std::size_t faces) override;
  // Says so in the log, and gives back the frames that the device keeps.
  void on_out_of_memory(std::size_t faces, std::size_t next) override;

 private:
  const std::function<Model&()> model_;
  const Measured measured_;
};

}  // namespace navtalk
