#include "avatars/prepare/make_masks.h"

#include <algorithm>
#include <map>
#include <utility>
#include <vector>

#include "avatars/bundle/bundle_files.h"
#include "avatars/faces/mask.h"
#include "avatars/prepare/mask_log.h"
#include "core/base/error.h"
#include "core/base/interrupt.h"

namespace navtalk {
namespace {

// The built-in mask of every face, each size once. They are made anew in each run: that is faster than reading them.
Faces mask_sizes(const FaceBoxes& boxes, MaskLog& log) {
  log.resume({}, 1);
  Faces faces(boxes.size());
  std::map<std::pair<int, int>, std::size_t> by_size;
  for (std::size_t i = 0; i < boxes.size(); ++i) {
    if (!boxes[i]) continue;
    const std::pair size(boxes[i]->width(), boxes[i]->height());
    const auto [known, is_new] = by_size.emplace(size, log.count());
    if (is_new) log.append(lower_face_mask(*boxes[i]));
    faces[i] = AvatarFace{{*boxes[i], crop_box_of(*boxes[i])},
                          log.region(known->second),
                          static_cast<int>(known->second)};
  }
  return faces;
}

// The mask of every face from its own frame.
Faces mask_frames(Clip& clip, const FaceBoxes& boxes, MaskSource& source, MaskLog& log,
                  const Progress& progress, const std::stop_token& stop) {
  std::vector<std::size_t> frames;  // those with a face
  std::vector<Box> with_face;
  for (std::size_t i = 0; i < boxes.size(); ++i) {
    if (!boxes[i]) continue;
    frames.push_back(i);
    with_face.push_back(*boxes[i]);
  }
  const std::size_t batch = source.batch();
  for (std::size_t first = log.resume(with_face, batch); first < frames.size(); first += batch) {
    throw_if_stopped(stop);
    const std::size_t end = std::min(frames.size(), first + batch);
    std::vector<Image> pictures;
    std::vector<FaceInFrame> faces;
    for (std::size_t face = first; face < end; ++face)
      pictures.push_back(clip.frame(static_cast<std::int64_t>(frames[face])));
    for (std::size_t face = first; face < end; ++face)
      faces.push_back({pictures[face - first].view(), with_face[face]});
    for (const FaceMask& mask : source.masks(faces)) log.append(mask);
    if (progress) progress("masks", end, frames.size());
  }
  if (log.all_empty() && log.count() > 0)
    throw Error(Code::invalid,
                "the face parsing finds no part of a face in any frame; --parsing-mode skin does "
                "without it");
  Faces faces(boxes.size());
  for (std::size_t face = 0; face < frames.size(); ++face)
    faces[frames[face]] = AvatarFace{
        {with_face[face], crop_box_of(with_face[face])}, log.region(face), static_cast<int>(face)};
  return faces;
}

}  // namespace

Faces make_masks(Clip& clip, const FaceBoxes& boxes, MaskSource* source,
                 const std::filesystem::path& folder, const Progress& progress,
                 const std::stop_token& stop) {
  MaskLog log(folder / k_mask_log);
  Faces faces = source == nullptr ? mask_sizes(boxes, log)
                                  : mask_frames(clip, boxes, *source, log, progress, stop);
  log.write(folder / k_masks_file);
  return faces;
}

}  // namespace navtalk
