// One call into libtorch from outside of it. Only for sources that include ATen.
#pragma once

#include <ATen/Parallel.h>
#include <ATen/core/Tensor.h>
#include <c10/core/InferenceMode.h>
#include <c10/util/Exception.h>
#include <fmt/format.h>

#include <string>

#include "core/base/error.h"
#include "core/base/out_of_memory.h"
#include "core/tensor/ndarray.h"
#include "gpu/cuda/device_failure.h"

namespace navtalk {

// Our memory as a tensor, for the time of one call.
inline at::Tensor tensor(const NdArray<float>& array) {
  return at::from_blob(const_cast<float*>(array.values.data()), array.shape, at::kFloat);
}

inline NdArray<float> array(const at::Tensor& tensor) {
  const at::Tensor dense = tensor.to(at::kCPU, at::kFloat).contiguous();
  const float* data = dense.const_data_ptr<float>();
  return {dense.sizes().vec(), std::vector<float>(data, data + dense.numel())};
}

// What libtorch says, in one line.
inline std::string words_of(const c10::Error& error, const char* what) {
  const std::string text = error.what_without_backtrace();
  return fmt::format("{}: {}", what, text.substr(0, text.find('\n')));
}

// Runs `body`: with `threads` threads, no autograd, libtorch's errors as Error{failed} that begins with `what`; as OutOfMemory
// where the device has none left, with all that libtorch had kept of it for later given back; as DeviceLost where the device is gone.
template <class Body>
auto run(int threads, const char* what, const Body& body) {
  try {
    const c10::InferenceMode inference;
    // The pool belongs to the calling thread, so each call sets it anew.
    if (at::get_num_threads() != threads) at::set_num_threads(threads);
    return body();
  } catch (const c10::OutOfMemoryError& error) {
    throw OutOfMemory(words_of(error, what));
  } catch (const c10::AcceleratorError& error) {
    throw_device_failure(error.get_error_code(), words_of(error, what));
  } catch (const c10::Error& error) {
    if (tells_of_memory(error.what_without_backtrace())) throw OutOfMemory(words_of(error, what));
    throw Error(Code::failed, words_of(error, what));
  }
}

}  // namespace navtalk
