#include "avatars/exchange/export.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <fstream>
#include <nlohmann/json.hpp>
#include <vector>

#include "avatars/bundle/json_file.h"
#include "avatars/exchange/musetalk_folder.h"
#include "core/base/error.h"
#include "core/base/interrupt.h"
#include "core/checkpoint/pickle/torch_list_writer.h"
#include "core/files/partial_path.h"
#include "core/media/image_file.h"

namespace navtalk {
namespace {

namespace fs = std::filesystem;

fs::path numbered(const fs::path& folder, std::size_t number) {
  return folder / fmt::format("{:08d}.png", number);
}

std::array<int, 4> row(const Box& box) { return {box.x1, box.y1, box.x2, box.y2}; }

// The whole mask of a frame, of the crop box's size.
Image whole_mask(const Bundle& avatar, std::int64_t frame, const Box& crop) {
  Image whole(crop.width(), crop.height(), 1);
  const std::optional<AvatarFace>& face = avatar.face(frame);
  if (!face) return whole;
  const ConstImageView part = avatar.mask(frame);
  const Box& region = face->mask_region;
  for (int y = 0; y < part.height; ++y)
    std::copy_n(part.row(y), part.width, whole.view().at(region.x1, region.y1 + y));
  return whole;
}

// The place of each of the first `count` frames' faces; that of a neighbour where a frame has none.
std::vector<Placement> placements(const Bundle& avatar, std::int64_t count) {
  std::vector<Placement> places;
  std::optional<Placement> last;
  for (std::int64_t i = 0; i < count && !last; ++i)
    if (avatar.face(i)) last = avatar.face(i)->placement;
  if (!last)
    throw Error(Code::invalid, "the avatar " + avatar.info().id + " shows no face in any frame");
  for (std::int64_t i = 0; i < count; ++i) {
    if (avatar.face(i)) last = avatar.face(i)->placement;
    places.push_back(*last);
  }
  return places;
}

void write_info(const fs::path& file, const AvatarInfo& info) {
  const nlohmann::ordered_json ours = {{"fps", info.fps},
                                       {"loop", info.loop},
                                       {"voice", info.voice},
                                       {"face_source", info.face_source},
                                       {"mask_source", info.mask_source},
                                       {"sharpen", info.sharpen},
                                       {"match_colour", info.match_colour}};
  const nlohmann::ordered_json json = {{"avatar_id", info.id},
                                       {"video_path", ""},
                                       {"bbox_shift", 0},
                                       {"version", "v15"},
                                       {"navtalk", ours}};
  write_text_whole(file, json.dump(2) + "\n");
}

void write_all(const Bundle& avatar, const fs::path& folder, const Progress& progress,
               const std::stop_token& stop) {
  // MuseTalk's avatars have one clip, and the first one is for speech.
  const std::vector<Placement> places = placements(avatar, speaking_clip(avatar.info()).frames);
  const std::size_t count = places.size();
  std::vector<std::size_t> order;
  for (std::size_t i = 0; i < count; ++i) order.push_back(i);
  if (!avatar.info().loop)
    for (std::size_t i = count; i > 0; --i) order.push_back(i - 1);
  const fs::path frames = folder / k_musetalk_frames, masks = folder / k_musetalk_masks;
  fs::create_directory(frames);
  fs::create_directory(masks);
  std::vector<std::array<int, 4>> boxes, mask_boxes;
  for (std::size_t slot = 0; slot < order.size(); ++slot) {
    throw_if_stopped(stop);
    const std::size_t frame = order[slot];
    if (slot < count) {
      const auto index = static_cast<std::int64_t>(frame);
      write_png(numbered(frames, slot), avatar.frame(index).view());
      write_png(numbered(masks, slot), whole_mask(avatar, index, places[frame].crop_box).view());
    } else {
      fs::copy_file(numbered(frames, frame), numbered(frames, slot));
      fs::copy_file(numbered(masks, frame), numbered(masks, slot));
    }
    boxes.push_back(row(places[frame].box));
    mask_boxes.push_back(row(places[frame].crop_box));
    if (progress) progress("exporting", slot + 1, order.size());
  }
  write_pickled_rows(folder / k_musetalk_boxes, boxes);
  write_pickled_rows(folder / k_musetalk_mask_boxes, mask_boxes);
  const auto latent = [&](std::size_t frame) {
    const auto index = static_cast<std::int64_t>(frame);
    return avatar.face(index) ? avatar.latent(index).values : std::vector<float>(k_latent_values);
  };
  write_torch_list(folder / k_musetalk_latents, {.shape = {1, 8, k_latent_size, k_latent_size},
                                                 .order = order,
                                                 .tensors = count,
                                                 .values = latent});
  write_info(folder / k_musetalk_info, avatar.info());
}

}  // namespace

void export_avatar(const Bundle& avatar, const fs::path& folder, bool force,
                   const Progress& progress, const std::stop_token& stop) {
  PartialPath partial({.target = folder,
                       .kind = PartialPath::Kind::directory,
                       .overwrite = force,
                       .marker = k_musetalk_info});
  try {
    write_all(avatar, partial.path(), progress, stop);
    partial.commit();
  } catch (const Error& error) {
    throw Error(error.code(), partial.named(error.message()));
  } catch (const fs::filesystem_error& error) {
    throw Error(Code::failed,
                fmt::format("exporting to {}: {}", folder.string(), partial.named(error.what())));
  }
}

}  // namespace navtalk
