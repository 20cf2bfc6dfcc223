// The launches that `navtalk bench image` times on a device: each operation that has a kernel, on the whole picture and on the face.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "gpu/cuda/stream.h"
#include "gpu/image/compose.h"

namespace navtalk::cuda {

struct ImageLaunch {
  std::string operation, area;  // as in the rows of the CPU
  std::ptrdiff_t bytes = 0;     // each input read once and each output written once
  std::function<void(std::uint8_t* memory, Stream)> enqueue;
};

// What is timed: `batch` pictures of width x height with a face x face box where `placement` says.
struct BenchPictures {
  int batch, width, height, face;
  Placement placement;
  Box mask_region;
};

// A set of pictures, masks and decoder outputs in one block of memory, and the launches on it.
class ImageLaunches {
 public:
  explicit ImageLaunches(const BenchPictures& pictures);
  std::size_t memory_bytes() const { return bytes_; }
  const std::vector<ImageLaunch>& all() const { return launches_; }
  // Noise for memory_bytes() bytes; the decoder's outputs are halves in [-1,1].
  void fill(std::span<std::uint8_t> memory) const;

 private:
  std::ptrdiff_t place(std::ptrdiff_t bytes);
  void add_filters(const std::string& area, int side_x, int side_y, std::ptrdiff_t from,
                   std::ptrdiff_t to, std::ptrdiff_t mask);

  BenchPictures pictures_;
  std::size_t bytes_ = 0;
  std::ptrdiff_t decoded_ = 0, yuv_ = 0, yuv_result_ = 0;
  std::vector<ImageLaunch> launches_;
};

}  // namespace navtalk::cuda
