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
  // `model` gives the nets that are loaded; they stay for the time of a batch.
  explicit LiveNets(std::function<Model&()> model);

  // The avatar of each request of a session is a LivePictures. Faces of jobs are drawn in the same pass.
  Made make(std::span<const PictureRequest> batch, const std::function<void()>& heard) override;
  // Hears and draws one face of silence.
  void warm_up() override;

 private:
  const std::function<Model&()> model_;
};

}  // namespace navtalk
