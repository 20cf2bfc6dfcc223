#include "gpu/nets/graphed_net.h"

#include <ATen/ATen.h>
#include <c10/core/DeviceGuard.h>
#include <c10/util/Exception.h>

#include "core/base/out_of_memory.h"
#include "gpu/device/batch_parts.h"

namespace navtalk::nets {
namespace {

// With zeros for further images.
at::Tensor padded(const at::Tensor& input, std::int64_t size) {
  if (input.size(0) == size) return input;
  std::vector<std::int64_t> more = input.sizes().vec();
  more[0] = size - input.size(0);
  return at::cat({input, at::zeros(more, input.options())}, 0);
}

Tensors padded(const Tensors& inputs, std::int64_t size) {
  Tensors all;
  for (const at::Tensor& input : inputs) all.push_back(padded(input, size));
  return all;
}

std::vector<std::vector<std::int64_t>> shapes(const Tensors& inputs, std::int64_t size) {
  std::vector<std::vector<std::int64_t>> all;
  for (const at::Tensor& input : inputs) {
    all.push_back(input.sizes().vec());
    all.back().front() = size;
  }
  return all;
}

}  // namespace

NetGraphs::NetGraphs(std::shared_ptr<cuda::GraphRecorder> recorder,
                     std::function<void(const std::string&)> tell)
    : recorder_(std::move(recorder)),
      cache_({}, [tell = std::move(tell)](const Key& key, const std::string& why) {
        tell(key.first + ": " + why.substr(0, why.find('\n')));
      }) {}

std::size_t NetGraphs::graphs() const {
  const std::lock_guard lock(mutex_);
  return cache_.graphs();
}

void NetGraphs::clear() {
  const std::lock_guard lock(mutex_);
  cache_.clear();
}

// The inputs of the graph are in the current stream, in which it is replayed: what is freed there is not used again before a replay that
// still runs has read it.
std::unique_ptr<NetGraphs::Recorded> NetGraphs::record(const NetFunction& net,
                                                       const Tensors& inputs) {
  auto recorded = std::make_unique<Recorded>();
  for (const at::Tensor& input : inputs) recorded->inputs.push_back(input.clone());
  recorded->graph =
      recorder_->record([&net, one = recorded.get()] { one->output = net(one->inputs); });
  return recorded;
}

at::Tensor NetGraphs::run(const std::string& name, const NetFunction& net, const Tensors& inputs,
                          std::int64_t size) {
  const std::int64_t images = inputs.front().size(0);
  const c10::DeviceGuard device(inputs.front().device());
  {
    const std::lock_guard lock(mutex_);
    const auto* const found = cache_.find_or_record(Key{name, shapes(inputs, size)}, [&] {
      try {
        return record(net, padded(inputs, size));
      } catch (const c10::OutOfMemoryError& error) {
        throw OutOfMemory(error.what_without_backtrace());
      }
    });
    if (found != nullptr) {
      Recorded& recorded = **found;
      for (std::size_t i = 0; i < inputs.size(); ++i)
        recorded.inputs[i].narrow(0, 0, images).copy_(inputs[i]);
      recorded.graph->replay();
      return recorded.output.narrow(0, 0, images).clone();
    }
  }
  return net(padded(inputs, size)).narrow(0, 0, images);
}

Tensors GraphedNet::operator()(const Tensors& inputs) const {
  Tensors outputs;
  for (const BatchPart& part :
       batch_parts(inputs.front().size(0), options_.sizes, options_.pass_cost)) {
    Tensors some;
    for (const at::Tensor& input : inputs) some.push_back(input.narrow(0, part.begin, part.images));
    outputs.push_back(graphs_ != nullptr ? graphs_->run(options_.name, net_, some, part.size)
                                         : net_(padded(some, part.size)).narrow(0, 0, part.images));
  }
  return outputs;
}

}  // namespace navtalk::nets
