#include "gpu/cuda/encoder_context.h"

#include <dlfcn.h>

#include <memory>
#include <string>
#include <utility>

#include "core/base/error.h"
#include "gpu/cuda/device_failure.h"

namespace navtalk::cuda {
namespace {

// What is used of the driver's interface, which never changes under these names.
class Driver {
 public:
  Driver() {
    if (!file_) {
      const char* const why = ::dlerror();
      throw Error(Code::failed, std::string("NVIDIA's driver cannot be loaded: ") +
                                    (why != nullptr ? why : "unknown error"));
    }
    find(init_, "cuInit");
    find(device_, "cuDeviceGet");
    find(retain_, "cuDevicePrimaryCtxRetain");
    find(release_, "cuDevicePrimaryCtxRelease_v2");
    find(enter_, "cuCtxPushCurrent_v2");
    find(leave_, "cuCtxPopCurrent_v2");
    find(create_, "cuStreamCreate");
    find(destroy_, "cuStreamDestroy_v2");
    find(name_, "cuGetErrorName");
    check(init_(0), "cuInit");
  }

  int device(int gpu) const {
    int device = 0;
    check(device_(&device, gpu), "cuDeviceGet");
    return device;
  }
  void* retain(int device) const {
    void* context = nullptr;
    check(retain_(&context, device), "cuDevicePrimaryCtxRetain");
    return context;
  }
  void release(int device) const { release_(device); }

  // One that does not wait for the default stream, in that context.
  void* create_stream(void* context) const {
    constexpr unsigned k_non_blocking = 1;
    check(enter_(context), "cuCtxPushCurrent");
    void* stream = nullptr;
    const int result = create_(&stream, k_non_blocking);
    leave_(&context);
    check(result, "cuStreamCreate");
    return stream;
  }
  // Fails only on a device that is lost, and the stream with it.
  void destroy_stream(void* context, void* stream) const {
    if (enter_(context) != 0) return;
    destroy_(stream);
    leave_(&context);
  }

 private:
  template <class Function>
  void find(Function& function, const char* name) const {
    function = reinterpret_cast<Function>(::dlsym(file_.get(), name));
    if (function == nullptr)
      throw Error(Code::failed, std::string("NVIDIA's driver is too old: it lacks ") + name);
  }
  void check(int result, const char* call) const {
    if (result == 0) return;
    const char* name = nullptr;
    name_(result, &name);
    throw_device_failure(result, std::string(call) + ": " + (name != nullptr ? name : "an error") +
                                     " (" + std::to_string(result) + ")");
  }

  struct Close {
    void operator()(void* file) const { ::dlclose(file); }
  };

  std::unique_ptr<void, Close> file_{::dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL)};
  int (*init_)(unsigned) = nullptr;
  int (*device_)(int*, int) = nullptr;
  int (*retain_)(void**, int) = nullptr;
  int (*release_)(int) = nullptr;
  int (*enter_)(void*) = nullptr;
  int (*leave_)(void**) = nullptr;
  int (*create_)(void**, unsigned) = nullptr;
  int (*destroy_)(void*) = nullptr;
  int (*name_)(int, const char**) = nullptr;
};

// A device's primary context, held.
class Primary {
 public:
  explicit Primary(int gpu) : device_(driver_.device(gpu)), context_(driver_.retain(device_)) {}
  ~Primary() { driver_.release(device_); }
  Primary(const Primary&) = delete;
  Primary& operator=(const Primary&) = delete;

  const Driver& driver() const { return driver_; }
  void* context() const { return context_; }

 private:
  const Driver driver_;
  const int device_;
  void* const context_;
};

}  // namespace

EncoderContext encoder_context(int gpu) {
  auto primary = std::make_shared<const Primary>(gpu);
  void* const context = primary->context();
  void* const made = primary->driver().create_stream(context);
  std::shared_ptr<void> stream(made, [primary = std::move(primary)](void* one) {
    primary->driver().destroy_stream(primary->context(), one);
  });
  return {.context = context, .stream = std::move(stream)};
}

}  // namespace navtalk::cuda
