#include "gpu/cuda/launch_timer.h"

#include <cuda_runtime_api.h>

#include <algorithm>
#include <memory>

#include "core/base/interrupt.h"
#include "gpu/cuda/device_block.h"
#include "gpu/cuda/graphs/graph_handles.h"
#include "gpu/cuda/launch_error.h"

namespace navtalk::cuda {
namespace {

constexpr int k_warm_up = 50;
constexpr std::size_t k_fewest = 200;

cudaEvent_t event(void* handle) { return static_cast<cudaEvent_t>(handle); }
cudaStream_t stream(Stream handle) { return static_cast<cudaStream_t>(handle); }

Executable captured(const std::function<void(Stream)>& enqueue, Stream into) {
  check(cudaStreamBeginCapture(stream(into), cudaStreamCaptureModeThreadLocal),
        "cudaStreamBeginCapture");
  cudaGraph_t graph = nullptr;
  try {
    enqueue(into);
  } catch (...) {
    cudaStreamEndCapture(stream(into), &graph);
    cudaGetLastError();  // what went wrong is told already
    throw;
  }
  check(cudaStreamEndCapture(stream(into), &graph), "cudaStreamEndCapture");
  const Graph owned(graph);
  cudaGraphExec_t executable = nullptr;
  check(cudaGraphInstantiate(&executable, graph, 0), "cudaGraphInstantiate");
  return Executable(executable);
}

}  // namespace

LaunchTimer::LaunchTimer() {
  cudaStream_t made = nullptr;
  check(cudaStreamCreateWithFlags(&made, cudaStreamNonBlocking), "cudaStreamCreate");
  stream_ = made;
  cudaEvent_t first = nullptr, second = nullptr;
  check(cudaEventCreate(&first), "cudaEventCreate");
  begin_ = first;
  check(cudaEventCreate(&second), "cudaEventCreate");
  end_ = second;
}

LaunchTimer::~LaunchTimer() {
  cudaEventDestroy(event(begin_));
  cudaEventDestroy(event(end_));
  cudaStreamDestroy(stream(stream_));
}

std::vector<std::chrono::duration<double>> LaunchTimer::time(
    const std::function<void(Stream)>& enqueue, int count, std::chrono::duration<double> budget,
    const std::stop_token& stop) {
  using Clock = std::chrono::steady_clock;
  // What was put into other streams is there; the kernels' code is loaded, which must not happen while the stream is captured.
  check(cudaDeviceSynchronize(), "the work before the launches");
  enqueue(stream_);
  check(cudaStreamSynchronize(stream(stream_)), "the first launch");
  const Executable graph = captured(enqueue, stream_);
  const auto replay = [&] {
    check(cudaGraphLaunch(graph.get(), stream(stream_)), "cudaGraphLaunch");
  };
  for (int i = 0; i < k_warm_up; ++i) replay();
  check(cudaStreamSynchronize(stream(stream_)), "the launches");
  std::vector<std::chrono::duration<double>> times;
  for (const auto start = Clock::now(); times.size() < k_fewest || Clock::now() - start < budget;) {
    throw_if_stopped(stop);
    check(cudaEventRecord(event(begin_), stream(stream_)), "cudaEventRecord");
    replay();
    check(cudaEventRecord(event(end_), stream(stream_)), "cudaEventRecord");
    check(cudaEventSynchronize(event(end_)), "the launches");
    float milliseconds = 0;
    check(cudaEventElapsedTime(&milliseconds, event(begin_), event(end_)), "cudaEventElapsedTime");
    times.emplace_back(static_cast<double>(milliseconds) / 1000 / count);
  }
  return times;
}

double copy_rate(LaunchTimer& timer, const std::stop_token& stop) {
  const std::size_t bytes = std::min<std::size_t>(std::size_t{1} << 30, free_device_memory() / 8);
  const DeviceBlock from(bytes), to(bytes);
  check(cudaMemset(from.data(), 0x5A, bytes), "cudaMemset");
  std::vector<std::chrono::duration<double>> times = timer.time(
      [&](Stream into) {
        check(
            cudaMemcpyAsync(to.data(), from.data(), bytes, cudaMemcpyDeviceToDevice, stream(into)),
            "cudaMemcpyAsync");
      },
      1, std::chrono::duration<double>::zero(), stop);
  const auto middle = times.begin() + static_cast<std::ptrdiff_t>(times.size() / 2);
  std::nth_element(times.begin(), middle, times.end());
  return 2 * static_cast<double>(bytes) / middle->count();
}

}  // namespace navtalk::cuda
