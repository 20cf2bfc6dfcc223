// Owned handles of the CUDA runtime's graphs. Only for sources that include the CUDA runtime.
#pragma once

#include <cuda_runtime_api.h>

#include <memory>
#include <type_traits>

namespace navtalk::cuda {

struct EndGraph {
  void operator()(cudaGraph_t graph) const { cudaGraphDestroy(graph); }
};
struct EndExecutable {
  void operator()(cudaGraphExec_t graph) const { cudaGraphExecDestroy(graph); }
};
using Graph = std::unique_ptr<std::remove_pointer_t<cudaGraph_t>, EndGraph>;
using Executable = std::unique_ptr<std::remove_pointer_t<cudaGraphExec_t>, EndExecutable>;

}  // namespace navtalk::cuda
