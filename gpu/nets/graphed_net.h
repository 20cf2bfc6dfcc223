// Nets as graphs that a device replays: one launch for the hundreds of a pass. Only for sources that include ATen.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "gpu/cuda/graphs/graph_recorder.h"
#include "gpu/device/graph_cache.h"

namespace navtalk::nets {

using Tensors = std::vector<at::Tensor>;
// The batch is the first axis of every input and of the output.
using NetFunction = std::function<at::Tensor(const Tensors&)>;

// The graphs of all nets on one device. Thread-safe.
class NetGraphs {
 public:
  // `tell` hears of each graph that could not be recorded.
  NetGraphs(std::shared_ptr<cuda::GraphRecorder> recorder,
            std::function<void(const std::string&)> tell);

  // net(inputs), the same bytes: without a graph the first time that a net has inputs of these shapes, and where none can be recorded. Inputs
  // may have fewer images than `size`; the net is given that many, and the result has as many as the inputs.
  at::Tensor run(const std::string& name, const NetFunction& net, const Tensors& inputs,
                 std::int64_t size);

  std::size_t graphs() const;
  // Gives back what the graphs have of the device. They are recorded again when their shapes come again.
  void clear();

 private:
  using Key = std::pair<std::string, std::vector<std::vector<std::int64_t>>>;
  // What a graph reads and writes.
  struct Recorded {
    Tensors inputs;
    at::Tensor output;
    std::unique_ptr<cuda::RecordedGraph> graph;  // ends first
  };

  std::unique_ptr<Recorded> record(const NetFunction& net, const Tensors& inputs);

  mutable std::mutex
      mutex_;  // from an input's copy to that of the output nothing else may be replayed
  std::shared_ptr<cuda::GraphRecorder> recorder_;
  GraphCache<Key, std::unique_ptr<Recorded>> cache_;
};

// A net in passes of few sizes, so that each can be a graph.
class GraphedNet {
 public:
  struct Options {
    std::string name;                 // of the net: "unet"
    std::vector<std::int64_t> sizes;  // of passes, rising
    double pass_cost = 0;             // of one pass, whatever its size, in images
  };
  // `graphs` outlives it; nullptr: the same passes without graphs, the same bytes.
  GraphedNet(NetFunction net, Options options, NetGraphs* graphs)
      : net_(std::move(net)), options_(std::move(options)), graphs_(graphs) {}

  // The output in parts, which together have as many images as the inputs.
  Tensors operator()(const Tensors& inputs) const;

 private:
  NetFunction net_;
  Options options_;
  NetGraphs* graphs_;
};

}  // namespace navtalk::nets
