// What a search has found in each frame, written as it is found, so that an interrupted search goes on behind the last frame and needs
// no more memory for it than one frame takes. Host byte order: the file never leaves the machine.
//
//   count (int32)   numbers (count * int32)   count   numbers   ...
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <functional>
#include <span>

namespace navtalk {

class FrameLog {
 public:
  // `name` in `folder`, which is made where it is missing. No folder: nothing is kept.
  FrameLog(const std::filesystem::path& folder, const char* name);

  // Takes what it can use of a frame's numbers; false: they are damaged.
  using Take = std::function<bool(std::span<const std::int32_t>)>;
  // How many of `frames` are there: the first ones; all, or whole batches of `batch`. They were handed to `take` in their order, perhaps
  // with some behind them. What lies behind, half written or damaged, is cut off. Error{failed}.
  std::size_t resume(std::size_t frames, std::size_t batch, const Take& take);
  void append(std::span<const std::int32_t> numbers);  // after resume(); Error{failed}

 private:
  std::filesystem::path file_{};
  std::ofstream out_{};
};

}  // namespace navtalk
