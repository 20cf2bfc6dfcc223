// Errors of CUDA as the product's own.
#pragma once

namespace navtalk::cuda {

// Error{device} with the kernel's name and CUDA's words, when the launch before this call was refused.
void check_launch(const char* kernel);

}  // namespace navtalk::cuda
