// From faces to latents: crops, batches, the VAE's encoder.
#include <algorithm>
#include <memory>

#include "avatars/bundle/latents/latents.h"
#include "core/base/check.h"
#include "core/base/interrupt.h"
#include "gpu/image/resize.h"
#include "gpu/model/model.h"
#include "gpu/model/model_files.h"

namespace navtalk {

Image face_crop(ConstImageView frame, const Box& box) {
  Image crop(k_face_size, k_face_size);
  resize(frame.crop(intersection(box, {0, 0, frame.width, frame.height})), crop.view(),
         Interpolation::lanczos4);
  return crop;
}

LatentOptions latents_of_model(const std::filesystem::path& models, int threads) {
  const auto open_model = [models, threads]() -> FaceEncoder {
    const auto model = std::make_shared<Model>(Model::load({.models = models,
                                                            .precision = Precision::fp32,
                                                            .threads = threads,
                                                            .whisper = false,
                                                            .unet = false,
                                                            .vae_decoder = false}));
    return [model](std::span<const ConstImageView> crops) { return model->encode(crops); };
  };
  return {sha256_file(find_model_files(models).vae), open_model};
}

void encode_faces(Clip& clip, const Faces& faces, const FaceEncoder& encode, std::size_t skip,
                  const LatentSink& sink, const Progress& progress, const std::stop_token& stop) {
  std::vector<std::size_t> frames;  // those with a face
  for (std::size_t i = 0; i < faces.size(); ++i)
    if (faces[i]) frames.push_back(i);
  for (std::size_t first = skip; first < frames.size(); first += k_encode_batch) {
    throw_if_stopped(stop);
    std::vector<Image> crops;
    std::vector<ConstImageView> views;
    const std::size_t end = std::min(frames.size(), first + k_encode_batch);
    for (std::size_t i = first; i < end; ++i) {
      const Image frame = clip.frame(static_cast<std::int64_t>(frames[i]));
      crops.push_back(face_crop(frame.view(), faces[frames[i]]->placement.box));
    }
    views.reserve(crops.size());
    for (const Image& crop : crops) views.push_back(crop.view());
    const NdArray<float> latents = encode(views);
    NAVTALK_CHECK(latents.values.size() == views.size() * k_latent_values);
    sink(latents.values);
    if (progress) progress("latents", end, frames.size());
  }
}

}  // namespace navtalk
