#include "avatars/prepare/mask_log.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>

#include "avatars/bundle/mask_file.h"
#include "core/base/check.h"
#include "core/base/error.h"

namespace navtalk {
namespace {

using Header = std::array<std::int32_t, 4>;

std::size_t pixels_of(const Box& region) {
  return static_cast<std::size_t>(region.width()) * static_cast<std::size_t>(region.height());
}

// Any object may be read as char, which iostream wants.
bool read_bytes(std::ifstream& in, void* to, std::size_t bytes) {
  return static_cast<bool>(in.read(static_cast<char*>(to), static_cast<std::streamsize>(bytes)));
}

bool all_zero(const std::vector<std::uint8_t>& pixels) {
  return std::ranges::all_of(pixels, [](int value) { return value == 0; });
}

}  // namespace

std::uintmax_t MaskLog::Entry::bytes() const { return sizeof(Header) + pixels_of(region); }

bool MaskLog::read_entry(std::ifstream& in, const Box& face) {
  Header header{};
  if (!read_bytes(in, header.data(), sizeof header)) return false;
  const Box region{header[0], header[1], header[2], header[3]};
  const Box crop = crop_box_of(face);
  if (region.empty() || intersection(region, face.moved(-crop.x1, -crop.y1)) != region)
    return false;
  std::vector<std::uint8_t> pixels(pixels_of(region));
  if (!read_bytes(in, pixels.data(), pixels.size())) return false;
  entries_.push_back({region, all_zero(pixels)});
  return true;
}

std::size_t MaskLog::resume(const std::vector<Box>& faces, std::size_t batch) {
  entries_.clear();
  std::ifstream in(file_, std::ios::binary);
  while (entries_.size() < faces.size() && read_entry(in, faces[entries_.size()])) continue;
  if (entries_.size() < faces.size()) entries_.resize(entries_.size() - entries_.size() % batch);
  std::uintmax_t end = 0;
  for (const Entry& entry : entries_) end += entry.bytes();
  if (in.is_open()) std::filesystem::resize_file(file_, end);
  out_.open(file_, std::ios::binary | std::ios::app);
  return entries_.size();
}

void MaskLog::append(const FaceMask& mask) {
  NAVTALK_CHECK(mask.pixels.pixels.size() == pixels_of(mask.region));
  const Header header{mask.region.x1, mask.region.y1, mask.region.x2, mask.region.y2};
  out_.write(reinterpret_cast<const char*>(header.data()), sizeof header);
  out_.write(reinterpret_cast<const char*>(mask.pixels.pixels.data()),
             std::ssize(mask.pixels.pixels));
  out_.flush();
  if (!out_)
    throw Error(Code::failed,
                fmt::format("cannot write {}: {}", file_.string(), std::strerror(errno)));
  entries_.push_back({mask.region, all_zero(mask.pixels.pixels)});
}

bool MaskLog::all_empty() const { return std::ranges::all_of(entries_, &Entry::empty); }

void MaskLog::write(const std::filesystem::path& file) {
  out_.close();
  std::vector<MaskSize> sizes;
  for (const Entry& entry : entries_)
    sizes.push_back({entry.region.width(), entry.region.height()});
  std::ifstream in(file_, std::ios::binary);
  Image mask;
  const auto next = [&](std::size_t i) {
    mask = Image(sizes[i].width, sizes[i].height, 1);
    in.ignore(sizeof(Header));
    if (!read_bytes(in, mask.pixels.data(), mask.pixels.size()))
      throw Error(Code::failed, fmt::format("cannot read {}", file_.string()));
    return ConstImageView(mask.view());
  };
  write_masks(file, sizes, next);
}

}  // namespace navtalk
