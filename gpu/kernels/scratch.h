// Working memory of the kernels. A vector for each call would be mapped, zeroed and unmapped each time, which takes longer than
// some of the convolutions.
#pragma once

#include <cstddef>
#include <vector>

namespace navtalk::kernels {

// `size` elements that belong to the calling thread until it asks for the same `use` again: what the last user wrote, or zeros.
// They stay with the thread. T and `use` tell the buffers apart that one computation needs at the same time.
template <class T, int use>
T* scratch(std::size_t size) {
  thread_local std::vector<T> memory;
  if (memory.size() < size) memory = std::vector<T>(size);
  return memory.data();
}

}  // namespace navtalk::kernels
