#include "avatars/live/live_nets.h"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <map>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "avatars/live/live_pictures.h"
#include "core/base/check.h"
#include "core/log/log.h"

namespace navtalk {
namespace {

using Clock = std::chrono::steady_clock;

// A request for which the nets have something to draw.
struct Drawn {
  std::size_t place = 0;  // in the batch
  std::shared_ptr<LivePictures> pictures{};
  std::int64_t frame = 0;
  NdArray<float> window{};
};

std::shared_ptr<LivePictures> pictures_of(const PictureRequest& request) {
  auto pictures = std::dynamic_pointer_cast<LivePictures>(request.avatar);
  NAVTALK_CHECK(pictures);
  return pictures;
}

// Sessions hear one after the other.
void hear(Model& model, std::span<const PictureRequest> batch, std::vector<Drawn>& all) {
  std::map<std::uint64_t, std::vector<Drawn*>> sessions;
  for (Drawn& one : all) sessions[batch[one.place].session].push_back(&one);
  for (const auto& [session, drawn] : sessions) {
    std::vector<const SoundWindow*> sounds;
    for (const Drawn* one : drawn) sounds.push_back(&batch[one->place].sound);
    auto windows = drawn.front()->pictures->hearing().windows(model, sounds);
    for (std::size_t i = 0; i < drawn.size(); ++i) drawn[i]->window = std::move(windows[i]);
  }
}

template <class T>
NdArray<float> stacked(const std::vector<T>& all, auto part) {
  Shape shape = part(all.front()).shape;
  shape[0] = std::ssize(all);
  NdArray<float> whole(shape);
  for (std::size_t i = 0; i < all.size(); ++i) {
    const NdArray<float>& one = part(all[i]);
    std::ranges::copy(one.values, whole.row(static_cast<std::int64_t>(i)));
  }
  return whole;
}

NdArray<std::uint8_t> face_of(const NdArray<std::uint8_t>& faces, std::size_t i) {
  const std::uint8_t* row = faces.row(static_cast<std::int64_t>(i));
  return {Shape(faces.shape.begin() + 1, faces.shape.end()),
          std::vector<std::uint8_t>(row, row + faces.stride0())};
}

// Those of sessions, then those of jobs.
void draw_faces(Model& model, std::span<const PictureRequest> batch,
                const std::vector<Drawn>& drawn, const std::vector<OfflineFace*>& offline,
                EngineBackend::Made& made) {
  std::vector<NdArray<float>> latents, windows;
  for (const Drawn& one : drawn) {
    latents.push_back(one.pictures->avatar().latent(one.frame));
    windows.push_back(one.window);
  }
  for (const OfflineFace* one : offline) {
    latents.push_back(one->latent);
    windows.push_back(one->window);
  }
  if (latents.empty()) return;
  const auto itself = [](const NdArray<float>& one) -> const NdArray<float>& { return one; };
  const NdArray<std::uint8_t> faces =
      model.faces(stacked(latents, itself), stacked(windows, itself));
  for (std::size_t i = 0; i < offline.size(); ++i)
    offline[i]->face = face_of(faces, drawn.size() + i);
  for (std::size_t i = 0; i < drawn.size(); ++i) {
    const PictureRequest& request = batch[drawn[i].place];
    made.pictures[drawn[i].place] =
        [pictures = drawn[i].pictures, frame = request.frame, lips = request.lips,
         face = std::make_shared<const NdArray<std::uint8_t>>(face_of(faces, i))] {
          return pictures->with_face(frame, *face, lips);
        };
  }
}

FinishPicture finish_of(FinishedPicture picture, int width, int height, int gpu) {
  const auto as_planes = [width, height, bytes = picture.bytes](const std::uint8_t* nv12) {
    return as_i420({nv12, bytes}, width, height);
  };
  if (!picture.on_device())
    return [picture = std::move(picture), as_planes] { return as_planes(picture.data.get()); };
  return [picture = std::move(picture), as_planes, width, height, gpu] {
    return DevicePicture{.width = width,
                         .height = height,
                         .gpu = gpu,
                         .nv12 = picture.data,
                         .copy = [picture, as_planes] { return as_planes(picture.copy().get()); }};
  };
}

// What the device finishes; the rest stays in `drawn`: clips that pass into each other, and avatars with odd sides.
void draw_on_device(Model& model, std::span<const PictureRequest> batch, std::vector<Drawn>& drawn,
                    EngineBackend::Made& made) {
  std::vector<Drawn> there, rest;
  std::vector<PlacedFrame> frames;
  for (Drawn& one : drawn) {
    const PictureRequest& request = batch[one.place];
    std::optional<PlacedFrame> frame =
        one.pictures->placed(request.frame, request.lips, model.info().finishing_gpu);
    (frame ? there : rest).push_back(std::move(one));
    if (frame) frames.push_back(std::move(*frame));
  }
  drawn = std::move(rest);
  if (there.empty()) return;
  auto pictures =
      model.pictures(frames, stacked(there, [](const Drawn& one) { return one.window; }));
  for (std::size_t i = 0; i < there.size(); ++i)
    made.pictures[there[i].place] =
        finish_of(std::move(pictures[i]), frames[i].picture_width(), frames[i].picture_height(),
                  model.info().finishing_gpu);
}

}  // namespace

LiveNets::LiveNets(std::function<Model&()> model, Measured measured)
    : model_(std::move(model)), measured_(std::move(measured)) {}

EngineBackend::Made LiveNets::make(std::span<const PictureRequest> batch,
                                   const std::function<void()>& heard) {
  Model& model = model_();
  const Clock::time_point begin = Clock::now();
  Made made;
  std::vector<Drawn> drawn;
  std::vector<OfflineFace*> offline;
  for (std::size_t i = 0; i < batch.size(); ++i) {
    if (batch[i].offline) {
      offline.push_back(batch[i].offline.get());
      made.pictures.emplace_back();
      continue;
    }
    auto pictures = pictures_of(batch[i]);
    const ClipFrame& frame = batch[i].frame;
    made.pictures.emplace_back([pictures, frame] { return pictures->still(frame); });
    if (!pictures->avatar().face(frame.index)) continue;
    drawn.push_back({.place = i, .pictures = std::move(pictures), .frame = frame.index});
  }
  if (drawn.empty() && offline.empty()) return made;
  hear(model, batch, drawn);
  heard();
  made.features = std::chrono::duration_cast<std::chrono::microseconds>(Clock::now() - begin);
  if (model.info().pictures_on_device) draw_on_device(model, batch, drawn, made);
  draw_faces(model, batch, drawn, offline, made);
  return made;
}

// A live picture's sound is mostly past.
void LiveNets::warm_up(std::size_t faces) {
  constexpr std::size_t k_past = 64'000, k_future = 3'200;  // samples
  const SoundWindow silence{.samples = std::vector<std::int16_t>(k_past + k_future),
                            .first = k_past};
  const SoundWindow* const sounds[] = {&silence};
  const auto draw = [&] {
    Model& model = model_();
    const std::vector<NdArray<float>> windows(faces, LiveHearing().windows(model, sounds).front());
    const auto itself = [](const NdArray<float>& one) -> const NdArray<float>& { return one; };
    // A device records a pass as a graph when it comes for the second time, and graphs take memory of their own.
    const int passes = model.info().pictures_on_device ? 2 : 1;
    for (int pass = 0; pass < passes; ++pass)
      model.faces(NdArray<float>({static_cast<std::int64_t>(faces), 8, 32, 32}),
                  stacked(windows, itself));
  };
  measured_ ? measured_(faces, draw) : draw();
}

void LiveNets::on_out_of_memory(std::size_t faces, std::size_t next) {
  log::error("the device is out of memory: batches are smaller for a while",
             {{"faces", std::to_string(faces)}, {"next", std::to_string(next)}});
  model_().drop_frames();
}

}  // namespace navtalk
