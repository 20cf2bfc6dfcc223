#include "gpu/cuda/device_failure.h"

#include <algorithm>
#include <array>
#include <utility>

#include "core/base/device_lost.h"
#include "core/base/error.h"
#include "core/base/out_of_memory.h"

namespace navtalk {
namespace {

constexpr int k_memory_allocation = 2;
// After these the process has no context on the device any more.
constexpr std::array k_lost = {
    46,   // cudaErrorDevicesUnavailable
    100,  // cudaErrorNoDevice: it fell off the bus
    214,  // cudaErrorECCUncorrectable
    220,  // cudaErrorNvlinkUncorrectable
    226,  // cudaErrorContained
    700,  // cudaErrorIllegalAddress
    702,  // cudaErrorLaunchTimeout
    709,  // cudaErrorContextIsDestroyed
    710,  // cudaErrorAssert
    714,  // cudaErrorHardwareStackError
    715,  // cudaErrorIllegalInstruction
    716,  // cudaErrorMisalignedAddress
    717,  // cudaErrorInvalidAddressSpace
    718,  // cudaErrorInvalidPc
    719,  // cudaErrorLaunchFailure
    999,  // cudaErrorUnknown
};

}  // namespace

void throw_device_failure(int cuda_error, std::string message) {
  if (cuda_error == k_memory_allocation) throw OutOfMemory(std::move(message));
  if (std::ranges::find(k_lost, cuda_error) != k_lost.end()) throw DeviceLost(std::move(message));
  throw Error(Code::failed, std::move(message));
}

bool tells_of_memory(std::string_view message) {
  constexpr std::string_view k_words[] = {"CUBLAS_STATUS_ALLOC_FAILED", "CUDNN_STATUS_ALLOC_FAILED",
                                          "out of memory"};
  return std::ranges::any_of(
      k_words, [&](std::string_view words) { return message.find(words) != message.npos; });
}

}  // namespace navtalk
