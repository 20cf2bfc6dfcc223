// The part of NVIDIA's driver (libcuda.so.1) that FFmpeg uses for frames in a GPU's memory, which is the host's here. FFmpeg also asks for
// functions that it does not call for them: these refuse.
#include "tests/fakes/fake_cuda.h"

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <vector>

namespace {

navtalk::tests::FakeCuda fake;
thread_local std::vector<void*> entered;  // the last one is current
char primary[2];                          // whose addresses are the contexts of the GPUs

void* current() { return entered.empty() ? nullptr : entered.back(); }

constexpr int k_not_supported = 801, k_invalid_value = 1, k_out_of_memory = 2,
              k_invalid_device = 101, k_invalid_context = 201;
constexpr int k_texture_alignment = 14, k_host = 1, k_device = 2;

using Pointer = unsigned long long;  // CUdeviceptr

struct Side {
  std::size_t x, y;
  int kind;
  void* host;
  Pointer device;
  void* array;
  std::size_t pitch;

  std::uint8_t* row(std::size_t index) const {
    auto* first =
        static_cast<std::uint8_t*>(kind == k_host ? host : reinterpret_cast<void*>(device));
    return first + (y + index) * pitch + x;
  }
};
// CUDA_MEMCPY2D
struct Copy {
  Side from, to;
  std::size_t width, height;
};

}  // namespace

extern "C" {

navtalk::tests::FakeCuda* fake_cuda() {
  fake.current = current;
  return &fake;
}

int cuInit(unsigned) { return 0; }
int cuDeviceGetAttribute(int* value, int attribute, int) {
  if (attribute != k_texture_alignment) return k_not_supported;
  *value = 512;
  return 0;
}
int cuCtxPushCurrent_v2(void* context) {
  if (fake.enter_result == 0) entered.push_back(context);
  return fake.enter_result;
}
int cuCtxPopCurrent_v2(void** context) {
  if (entered.empty()) return k_invalid_context;
  *context = entered.back();
  entered.pop_back();
  return 0;
}
int cuDeviceGet(int* device, int ordinal) {
  if (ordinal < 0 || ordinal >= static_cast<int>(sizeof primary)) return k_invalid_device;
  *device = ordinal;
  return 0;
}
int cuDevicePrimaryCtxRetain(void** context, int device) {
  *context = &primary[device];
  fake.begun |= 1 << device;
  ++fake.retained;
  return 0;
}
int cuDevicePrimaryCtxRelease_v2(int) {
  --fake.retained;
  return 0;
}
int cuStreamCreate(void** stream, unsigned) {
  if (current() == nullptr) return k_invalid_context;
  if (fake.stream_result != 0) return fake.stream_result;
  fake.stream_context = current();
  ++fake.streams;
  *stream = new char;
  return 0;
}
int cuStreamDestroy_v2(void* stream) {
  if (current() == nullptr) return k_invalid_context;
  delete static_cast<char*>(stream);
  --fake.streams;
  return 0;
}
int cuMemAlloc_v2(Pointer* memory, std::size_t bytes) {
  void* made = std::malloc(bytes);
  if (made == nullptr) return k_out_of_memory;
  ++fake.allocated;
  *memory = reinterpret_cast<Pointer>(made);
  return 0;
}
int cuMemFree_v2(Pointer memory) {
  std::free(reinterpret_cast<void*>(memory));
  --fake.allocated;
  return 0;
}
int cuMemcpy2DAsync_v2(const Copy* copy, void* stream) {
  if (copy->to.kind != k_device) return k_invalid_value;
  if (fake.copy_result != 0) return fake.copy_result;
  copy->from.kind == k_device ? ++fake.within : ++fake.uploads;
  fake.context = current();
  fake.stream = stream;
  for (std::size_t y = 0; y < copy->height; ++y)
    std::memcpy(copy->to.row(y), copy->from.row(y), copy->width);
  return 0;
}
int cuStreamSynchronize(void*) { return 0; }
int cuGetErrorName(int, const char** name) {
  *name = "CUDA_ERROR_OF_TESTS";
  return 0;
}
int cuGetErrorString(int, const char** text) {
  *text = "as the test wants it";
  return 0;
}

#define REFUSED(name) \
  int name() { return k_not_supported; }
REFUSED(cuArray3DCreate_v2)
REFUSED(cuArrayDestroy)
REFUSED(cuCtxCreate_v2)
REFUSED(cuCtxDestroy_v2)
REFUSED(cuCtxGetCurrent)
REFUSED(cuCtxGetDevice)
REFUSED(cuCtxSetLimit)
REFUSED(cuDestroyExternalMemory)
REFUSED(cuDestroyExternalSemaphore)
REFUSED(cuDeviceComputeCapability)
REFUSED(cuDeviceGetCount)
REFUSED(cuDeviceGetName)
REFUSED(cuDeviceGetUuid)
REFUSED(cuDevicePrimaryCtxGetState)
REFUSED(cuDevicePrimaryCtxRelease)
REFUSED(cuDevicePrimaryCtxReset)
REFUSED(cuDevicePrimaryCtxSetFlags)
REFUSED(cuEGLStreamConsumerDisconnect)
REFUSED(cuEGLStreamProducerConnect)
REFUSED(cuEGLStreamProducerDisconnect)
REFUSED(cuEGLStreamProducerPresentFrame)
REFUSED(cuEGLStreamProducerReturnFrame)
REFUSED(cuEventCreate)
REFUSED(cuEventDestroy_v2)
REFUSED(cuEventQuery)
REFUSED(cuEventRecord)
REFUSED(cuEventSynchronize)
REFUSED(cuExternalMemoryGetMappedBuffer)
REFUSED(cuExternalMemoryGetMappedMipmappedArray)
REFUSED(cuGLGetDevices_v2)
REFUSED(cuGraphicsGLRegisterImage)
REFUSED(cuGraphicsMapResources)
REFUSED(cuGraphicsResourceGetMappedPointer_v2)
REFUSED(cuGraphicsSubResourceGetMappedArray)
REFUSED(cuGraphicsUnmapResources)
REFUSED(cuGraphicsUnregisterResource)
REFUSED(cuImportExternalMemory)
REFUSED(cuImportExternalSemaphore)
REFUSED(cuLaunchKernel)
REFUSED(cuLinkAddData)
REFUSED(cuLinkComplete)
REFUSED(cuLinkCreate)
REFUSED(cuLinkDestroy)
REFUSED(cuMemAllocManaged)
REFUSED(cuMemAllocPitch_v2)
REFUSED(cuMemcpy)
REFUSED(cuMemcpy2D_v2)
REFUSED(cuMemcpyAsync)
REFUSED(cuMemcpyDtoDAsync_v2)
REFUSED(cuMemcpyDtoD_v2)
REFUSED(cuMemcpyDtoHAsync_v2)
REFUSED(cuMemcpyDtoH_v2)
REFUSED(cuMemcpyHtoDAsync_v2)
REFUSED(cuMemcpyHtoD_v2)
REFUSED(cuMemsetD8Async)
REFUSED(cuMipmappedArrayDestroy)
REFUSED(cuMipmappedArrayGetLevel)
REFUSED(cuModuleGetFunction)
REFUSED(cuModuleGetGlobal)
REFUSED(cuModuleLoadData)
REFUSED(cuModuleUnload)
REFUSED(cuSignalExternalSemaphoresAsync)
REFUSED(cuStreamAddCallback)
REFUSED(cuStreamQuery)
REFUSED(cuTexObjectCreate)
REFUSED(cuTexObjectDestroy)
REFUSED(cuWaitExternalSemaphoresAsync)
#undef REFUSED

}  // extern "C"
