#include "core/checkpoint/stored_tensor.h"
#include "tests/fuzz/read_all.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  navtalk::read_all(navtalk::read_torch_legacy, {data, size});
  return 0;
}
