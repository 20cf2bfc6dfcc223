// A device of the tests' own making: its graphs are the recorded work, done again.
#pragma once

#include <functional>
#include <memory>
#include <stdexcept>

#include "gpu/cuda/graphs/graph_recorder.h"

namespace navtalk::tests {

class ReplayingRecorder : public cuda::GraphRecorder {
 public:
  std::unique_ptr<cuda::RecordedGraph> record(const std::function<void()>& work) override {
    work();
    ++recorded;
    if (fails) throw std::runtime_error("operation not permitted when stream is capturing\nat 0x0");
    work();
    return std::make_unique<Again>(work, replayed);
  }

  int recorded = 0, replayed = 0;
  bool fails = false;

 private:
  class Again : public cuda::RecordedGraph {
   public:
    Again(std::function<void()> work, int& replayed)
        : work_(std::move(work)), replayed_(replayed) {}
    void replay() override {
      ++replayed_;
      work_();
    }

   private:
    std::function<void()> work_;
    int& replayed_;
  };
};

}  // namespace navtalk::tests
