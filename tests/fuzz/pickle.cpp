#include "core/checkpoint/pickle/pickle.h"

#include <cstdlib>

#include "core/base/error.h"
#include "core/checkpoint/pickle/unpickler.h"

namespace {

using navtalk::PickleValue;

// Touches every value within reach; returns how many.
std::size_t look(const PickleValue& value, int depth) {
  std::size_t seen = value.string().value_or("").size() + value.bytes().value_or("").size();
  if (const auto reals = value.reals()) seen += reals->values.size();
  if (const auto integers = value.integers()) seen += integers->values.size();
  const std::size_t items = std::min<std::size_t>(value.size(), 8);
  for (std::size_t i = 0; depth > 0 && i < items; ++i) {
    seen += look(value.item(i), depth - 1);
    if (value.kind() == PickleValue::Kind::dict) seen += look(value.key(i), depth - 1);
  }
  return seen;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  try {
    const navtalk::PickleGraph graph = navtalk::unpickle_all(std::as_bytes(std::span(data, size)));
    look({graph, graph.root}, 4);
  } catch (const navtalk::Error&) {
    return 0;  // refused, as it should be
  }
  return 0;
}
