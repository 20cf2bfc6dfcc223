// What a video encoder needs of the GPU on which libtorch computes.
#pragma once

#include <memory>

namespace navtalk::cuda {

struct EncoderContext {
  void* context =
      nullptr;  // a CUcontext: the device's primary one, in which libtorch's memory is. Stays as long as the process
  // A CUstream that waits for no other, so that a picture is not coded behind the next batch of the nets. Ends with its last holder.
  std::shared_ptr<void> stream{};
};

// Error{failed} where the GPU or its driver refuses, and Error{invalid} in a build without CUDA.
EncoderContext encoder_context(int gpu);

}  // namespace navtalk::cuda
