// What a test sees of the driver that fake_cuda.cpp stands for.
#pragma once

#include <atomic>

namespace navtalk::tests {

struct FakeCuda {
  std::atomic<int> enter_result = 0;         // of entering a context; 0: done
  std::atomic<int> copy_result = 0;          // of a copy; others than 0: nothing is copied
  std::atomic<int> within = 0, uploads = 0;  // copies of a plane, from the device and from the host
  std::atomic<int> allocated = 0;            // blocks of the device's memory
  std::atomic<void*> context{}, stream{};    // of the last copy
  std::atomic<int> retained = 0, streams = 0;  // primary contexts and streams that are held
  std::atomic<int> stream_result = 0;          // of making a stream
  std::atomic<void*> stream_context{};         // in which the last one was made
  int begun = 0;                               // bits of the GPUs whose primary context ever began
  void* (*current)() = nullptr;                // the calling thread's context
};

}  // namespace navtalk::tests
