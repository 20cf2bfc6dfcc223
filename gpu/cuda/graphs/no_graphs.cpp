// For builds without CUDA.
#include "gpu/cuda/graphs/graph_recorder.h"

namespace navtalk::cuda {

std::unique_ptr<GraphRecorder> graph_recorder(int) { return nullptr; }

}  // namespace navtalk::cuda
