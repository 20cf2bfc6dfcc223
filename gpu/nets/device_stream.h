// The stream in which libtorch computes. Only for sources that include ATen.
#pragma once

#include <c10/core/Device.h>
#include <c10/core/impl/VirtualGuardImpl.h>

#include "gpu/cuda/stream.h"

namespace navtalk::nets {

// Of the calling thread, on that device; null on the CPU, where the emulation of the tests has no streams.
inline cuda::Stream stream_of(const at::Device& device) {
  if (device.is_cpu()) return nullptr;
  const c10::impl::VirtualGuardImpl guard(device.type());
  return guard.getStreamNativeHandle(guard.getStream(device));
}

}  // namespace navtalk::nets
