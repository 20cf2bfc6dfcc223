// A backend's transaction as a function that gives a result. Private to the store's sources.
#pragma once

#include <optional>
#include <type_traits>
#include <utility>

#include "scheduler/store/transaction.h"

namespace navtalk {

template <class F>
auto in_write(StoreBackend& backend, Durability durability, F&& work) {
  using Result = std::invoke_result_t<F&, Transaction&>;
  if constexpr (std::is_void_v<Result>) {
    backend.write(durability, work);
  } else {
    Result result{};
    backend.write(durability, [&](Transaction& transaction) { result = work(transaction); });
    return result;
  }
}

template <class F>
auto in_read(StoreBackend& backend, F&& work) {
  std::invoke_result_t<F&, Transaction&> result{};
  backend.read([&](Transaction& transaction) { result = work(transaction); });
  return result;
}

}  // namespace navtalk
