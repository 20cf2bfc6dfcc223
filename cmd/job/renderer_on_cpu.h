// The renderer of jobs, with the CPU behind a GPU that has no memory. The same input, device and precision give the same pixels, so
// the segments of one video all come from one kind of device, which each segment's record names (k_segment_device):
//
//   finished segments │ the GPU has memory │ it has none
//   ──────────────────┼────────────────────┼──────────────────────────────────────────
//   none              │ the GPU            │ the CPU renders the whole video
//   of the GPU        │ the GPU            │ OutOfMemory: the video waits for a GPU, with what is finished of it
//   of the CPU        │ the CPU            │ the CPU
//
// One thread.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "cmd/infer/video_renderer.h"

namespace navtalk::cmd {

// Of a segment's record: "cpu", "cuda", or "cuda/nv12" where the GPU also finished the pictures.
inline constexpr const char* k_segment_device = "device";
// "cpu" where any of the records says so, else what the last one says; empty: there are none. One that names no device is one of an
// earlier version, which composed all pictures on the CPU: a GPU's own are coded in another way, and could not be joined with it.
std::string device_of_segments(const std::vector<std::string>& records);

// The same options, with all nets on the CPU, in a number format that it has.
InferOptions on_the_cpu(InferOptions options);

struct RenderersByDevice {
  // A renderer with nets of its own on the device that was asked for, or on the CPU. One at a time.
  std::function<VideoRenderer(bool on_cpu)> make;
  // Told once for each video that the CPU renders because the GPU has no memory, and why.
  std::function<void(const std::string& why)> on_cpu;
};

// load() tries the device that was asked for anew where the CPU stood in. Errors of both renderers; OutOfMemory as above.
VideoRenderer with_cpu_behind(RenderersByDevice renderers);

}  // namespace navtalk::cmd
