// CPtr<T, free_fn>: a unique_ptr for C handles, sized as a plain pointer.
// CPtrPtr<T, free_fn> is for free functions that take T** (FFmpeg's).
#pragma once

#include <memory>

namespace navtalk {

template <auto free_fn>
struct CDeleter {
  template <class T>
  void operator()(T* handle) const {
    free_fn(handle);
  }
};
template <auto free_fn>
struct CAddressDeleter {
  template <class T>
  void operator()(T* handle) const {
    free_fn(&handle);
  }
};

template <class T, auto free_fn>
using CPtr = std::unique_ptr<T, CDeleter<free_fn>>;
template <class T, auto free_fn>
using CPtrPtr = std::unique_ptr<T, CAddressDeleter<free_fn>>;

}  // namespace navtalk
