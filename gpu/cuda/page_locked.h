// Host memory that a GPU copies from and to at its full rate.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

namespace navtalk::cuda {

// Never paged out, and given back with the pointer's last copy. Error{failed} where the system has none, and in a build without CUDA.
// Not libtorch's, which rounds up to a power of two and keeps what is let go.
std::shared_ptr<std::uint8_t> page_locked(std::size_t bytes);

}  // namespace navtalk::cuda
