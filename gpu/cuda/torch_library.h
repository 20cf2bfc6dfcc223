// The part of libtorch that computes on GPUs, which is loaded when a GPU is used: it and what it needs take 3 GB on disk, which a
// machine without a GPU does not have.
#pragma once

#include <string>

namespace navtalk::cuda {

// Loads it, once; it stays. Empty, or why it cannot be loaded, as the end of a sentence.
std::string load_torch();

}  // namespace navtalk::cuda
