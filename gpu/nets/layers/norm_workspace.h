// The device memory in which GroupNorm's statistics meet. Only for sources that include ATen.
#pragma once

#include <ATen/core/Tensor.h>

namespace navtalk::nets {

// While it lives, norms on this thread use `workspace`, which grows as they need it, instead of the thread's own: what a graph records
// must keep its memory as long as the graph lives, whatever becomes of the thread.
class OwnNormWorkspace {
 public:
  explicit OwnNormWorkspace(at::Tensor& workspace);
  ~OwnNormWorkspace();
  OwnNormWorkspace(const OwnNormWorkspace&) = delete;
  OwnNormWorkspace& operator=(const OwnNormWorkspace&) = delete;

 private:
  at::Tensor* before_;
};

}  // namespace navtalk::nets
