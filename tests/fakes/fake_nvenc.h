// NVENC on a machine without one: in place of core/media's own, libx264 codes what lies in the memory of fake_cuda.cpp.
#pragma once

namespace navtalk::tests {

struct FakeNvenc {
  bool there = true;
  int room = 100;            // streams that may still be opened
  bool takes_frames = true;  // from the GPU's memory
};
FakeNvenc& fake_nvenc();

}  // namespace navtalk::tests
