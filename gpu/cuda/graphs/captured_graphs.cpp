// Graphs by stream capture. What the recorded work allocates comes from a pool of libtorch's allocator that no other work uses, so that
// replays find it as they left it; the graphs of one recorder share the pool. Only libtorch's small part for CUDA (libc10_cuda.so) is
// linked: at::cuda::CUDAGraph, which does the same, is in the part that is loaded when a GPU is used.
#include <c10/core/StreamGuard.h>
#include <c10/cuda/CUDACachingAllocator.h>
#include <c10/cuda/CUDAStream.h>
#include <cuda_runtime_api.h>

#include <atomic>
#include <utility>

#include "gpu/cuda/graphs/graph_handles.h"
#include "gpu/cuda/graphs/graph_recorder.h"
#include "gpu/cuda/launch_error.h"

namespace navtalk::cuda {
namespace {

namespace allocator = c10::cuda::CUDACachingAllocator;

c10::MempoolId_t next_pool() {
  // libtorch's own pools count from one.
  static std::atomic<std::uint64_t> last{std::uint64_t{1} << 32};
  return {0, ++last};
}

// A share in the pool, whose memory goes back when the last one ends.
class PoolShare {
 public:
  PoolShare(c10::DeviceIndex device, c10::MempoolId_t pool) : device_(device), pool_(pool) {
    allocator::createOrIncrefPool(device_, pool_);
  }
  ~PoolShare() { allocator::releasePool(device_, pool_); }
  PoolShare(const PoolShare&) = delete;
  PoolShare& operator=(const PoolShare&) = delete;
  c10::DeviceIndex device() const { return device_; }
  c10::MempoolId_t pool() const { return pool_; }

 private:
  c10::DeviceIndex device_;
  c10::MempoolId_t pool_;
};

class CapturedGraph : public RecordedGraph {
 public:
  CapturedGraph(std::shared_ptr<const PoolShare> pool, Executable executable)
      : pool_(std::move(pool)), executable_(std::move(executable)) {}
  // A replay that still runs reads its memory.
  ~CapturedGraph() override {
    if (replayed_) cudaStreamSynchronize(last_);
  }
  CapturedGraph(const CapturedGraph&) = delete;
  CapturedGraph& operator=(const CapturedGraph&) = delete;

  void replay() override {
    last_ = c10::cuda::getCurrentCUDAStream(pool_->device()).stream();
    replayed_ = true;
    check(cudaGraphLaunch(executable_.get(), last_), "cudaGraphLaunch");
  }

 private:
  std::shared_ptr<const PoolShare> pool_;
  Executable executable_;
  cudaStream_t last_ = nullptr;  // the default one
  bool replayed_ = false;
};

// From begin to end of a capture in `stream`: what this thread allocates for that stream meanwhile comes from the pool. Other threads go
// on allocating as before. Ends in any case, so that the stream can be used on.
class Capture {
 public:
  Capture(const PoolShare& pool, cudaStream_t stream) : pool_(pool), stream_(stream) {
    allocator::beginAllocateToPool(pool.device(), pool.pool(),
                                   [stream](cudaStream_t asked) { return asked == stream; });
    const cudaError_t begun = cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal);
    capturing_ = begun == cudaSuccess;
    if (!capturing_) {
      leave_pool();
      check(begun, "cudaStreamBeginCapture");
    }
  }
  ~Capture() {
    if (!capturing_) return;
    cudaGraph_t graph = nullptr;
    cudaStreamEndCapture(stream_, &graph);
    cudaGetLastError();  // what ended the capture is told already
    const Graph owned(graph);
    leave_pool();
  }
  Capture(const Capture&) = delete;
  Capture& operator=(const Capture&) = delete;

  Executable end() {
    capturing_ = false;
    cudaGraph_t graph = nullptr;
    const cudaError_t ended = cudaStreamEndCapture(stream_, &graph);
    const Graph owned(graph);
    leave_pool();
    if (ended != cudaSuccess) cudaGetLastError();
    check(ended, "cudaStreamEndCapture");
    cudaGraphExec_t executable = nullptr;
    check(cudaGraphInstantiate(&executable, graph, 0), "cudaGraphInstantiate");
    return Executable(executable);
  }

 private:
  // beginAllocateToPool() took a share, too.
  void leave_pool() {
    allocator::endAllocateToPool(pool_.device(), pool_.pool());
    allocator::releasePool(pool_.device(), pool_.pool());
  }

  const PoolShare& pool_;
  cudaStream_t stream_;
  bool capturing_ = false;
};

class StreamCapture : public GraphRecorder {
 public:
  explicit StreamCapture(c10::DeviceIndex device)
      : device_(device), stream_(c10::cuda::getStreamFromPool(false, device)) {}

  std::unique_ptr<RecordedGraph> record(const std::function<void()>& work) override {
    check(cudaStreamSynchronize(c10::cuda::getCurrentCUDAStream(device_).stream()),
          "the work before a graph is recorded");
    const c10::StreamGuard guard(stream_.unwrap());
    // Handles and workspaces of the libraries, and the kernels' code, which must not be loaded while the stream is captured.
    work();
    check(cudaStreamSynchronize(stream_.stream()), "the run before a graph is recorded");
    // Not before: libtorch's allocator is made with the first tensor on a GPU.
    std::shared_ptr<const PoolShare> pool = pool_.lock();
    if (!pool) pool_ = pool = std::make_shared<const PoolShare>(device_, next_pool());
    Capture capture(*pool, stream_.stream());
    work();
    return std::make_unique<CapturedGraph>(pool, capture.end());
  }

 private:
  c10::DeviceIndex device_;
  std::weak_ptr<const PoolShare> pool_{};  // of the graphs that there are
  c10::cuda::CUDAStream stream_;           // nothing else runs in it
};

}  // namespace

std::unique_ptr<GraphRecorder> graph_recorder(int device) {
  return std::make_unique<StreamCapture>(static_cast<c10::DeviceIndex>(device));
}

}  // namespace navtalk::cuda
