// From a video or pictures to a bundle: faces found and smoothed over time, masks, latents.
// Deterministic.
#pragma once

#include <filesystem>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "core/image.h"
#include "core/progress.h"
#include "gpu/model.h"

namespace navtalk {

struct PrepareOptions {
  std::optional<std::filesystem::path> video;
  std::vector<std::filesystem::path> images;  // in order; one is a still
  std::filesystem::path output;
  std::string id;               // empty: the output folder's name
  std::optional<Box> face_box;  // used for every frame instead of the face finder
  int fps = 25;
  bool force = false;
  std::optional<Model::Options> model;  // latents are made when given
};

// Error{invalid} for input without a face, with a second face that stays and is comparable in size,
// or unreadable; nothing stands at `output` then.
void prepare(const PrepareOptions& options, const Progress& progress, const std::stop_token& stop);

}  // namespace navtalk
