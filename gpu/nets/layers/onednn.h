// oneDNN's operators with packed weights. libtorch registers them for its compiler; C++ reaches them
// through the dispatcher. Only for the sources of this folder.
#pragma once

#include <ATen/core/List.h>
#include <ATen/core/dispatch/Dispatcher.h>

#include <optional>

namespace navtalk::nets {

using Scalars = at::List<std::optional<at::Scalar>>;

template <class Signature>
c10::TypedOperatorHandle<Signature> find_operator(const char* name, const char* overload) {
  return c10::Dispatcher::singleton().findSchemaOrThrow(name, overload).typed<Signature>();
}

}  // namespace navtalk::nets
