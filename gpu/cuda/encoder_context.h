// What a video encoder needs of the GPU on which libtorch computes. Needs the driver alone, neither CUDA's runtime nor torch, and changes
// nothing of the calling thread: not its device, and no context begins on any other GPU.
#pragma once

#include <memory>

namespace navtalk::cuda {

struct EncoderContext {
  void* context =
      nullptr;  // a CUcontext: the device's primary one, in which libtorch's memory is. Stays at least as long as the stream
  // A CUstream that waits for no other, so that a picture is not coded behind the next batch of the nets. Ends with its last holder.
  std::shared_ptr<void> stream{};
};

// `gpu` as CUDA counts the devices that this process sees. Error{failed} where there is no driver, or it refuses; DeviceLost and
// OutOfMemory as of every call.
EncoderContext encoder_context(int gpu);

}  // namespace navtalk::cuda
