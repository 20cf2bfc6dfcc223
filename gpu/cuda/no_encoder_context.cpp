// For builds without CUDA.
#include "core/base/error.h"
#include "gpu/cuda/encoder_context.h"

namespace navtalk::cuda {

EncoderContext encoder_context(int) {
  throw Error(Code::invalid, "this navtalk was built without CUDA (preset cuda)");
}

}  // namespace navtalk::cuda
