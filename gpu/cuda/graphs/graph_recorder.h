// What a device is asked to do, recorded once and replayed as a whole: one launch for hundreds. An interface, so that what uses graphs
// runs on a device of a test's making.
#pragma once

#include <functional>
#include <memory>

namespace navtalk::cuda {

class RecordedGraph {
 public:
  virtual ~RecordedGraph() = default;
  // Puts it into the calling thread's current stream. It reads and writes the memory that it was recorded with: replays in one stream
  // only, or with something between them that waits.
  virtual void replay() = 0;
};

// One thread at a time.
class GraphRecorder {
 public:
  virtual ~GraphRecorder() = default;
  // Runs `work` once as it is, then records what it puts into the current stream; tensors that the second run made stay where they are as
  // long as something holds them. Throws where something in `work` cannot be recorded; the device can be used on then.
  virtual std::unique_ptr<RecordedGraph> record(const std::function<void()>& work) = 0;
};

// Of that device; nullptr in builds without CUDA. Its graphs may outlive it.
std::unique_ptr<GraphRecorder> graph_recorder(int device);

}  // namespace navtalk::cuda
