// What an error of the device means for what goes on.
#include "gpu/cuda/device_failure.h"

#include <ATen/ATen.h>

#include <catch2/catch.hpp>

#include "core/base/device_lost.h"
#include "core/base/out_of_memory.h"
#include "gpu/model/torch_call.h"

using namespace navtalk;

namespace {

[[noreturn]] void accelerator(int code) {
  throw c10::AcceleratorError({}, code, "CUDA error: as the runtime says it\nand more");
}

}  // namespace

TEST_CASE("an error of the device that libtorch reports says whether the device is lost") {
  const auto call = [](int code) { run(1, "drawing", [&] { accelerator(code); }); };
  for (const int code : {100, 214, 700, 710, 719, 999}) CHECK_THROWS_AS(call(code), DeviceLost);
  CHECK_THROWS_AS(call(2), OutOfMemory);
  CHECK_THROWS_WITH(call(700), "drawing: CUDA error: as the runtime says it");
  try {
    call(98);  // an invalid function: of that call alone
    FAIL("nothing was thrown");
  } catch (const DeviceLost&) {
    FAIL("the device is not lost");
  } catch (const OutOfMemory&) {
    FAIL("there is memory");
  } catch (const Error& error) {
    CHECK(error.code() == Code::failed);
  }
}

TEST_CASE("libraries that have no memory on the device are out of memory, too") {
  const auto call = [](const char* says) {
    run(1, "drawing", [&] { throw c10::Error({}, says); });
  };
  CHECK_THROWS_AS(call("CUDA error: CUBLAS_STATUS_ALLOC_FAILED when calling `cublasCreate`"),
                  OutOfMemory);
  CHECK_THROWS_WITH(call("shape '[3]' is invalid"), Catch::StartsWith("drawing: shape"));
  try {
    call("CUDA error: CUBLAS_STATUS_NOT_SUPPORTED");
  } catch (const OutOfMemory&) {
    FAIL("there is memory");
  } catch (const Error&) {
  }
}
