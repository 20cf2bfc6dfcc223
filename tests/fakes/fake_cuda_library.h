// The fake of NVIDIA's driver, opened for good: FFmpeg then finds it by its name.
#pragma once

#include <dlfcn.h>

#include <catch2/catch.hpp>

#include "tests/fakes/fake_cuda.h"

namespace navtalk::tests {

// NAVTALK_FAKE_CUDA is the library's path. Copies are counted from now on.
inline FakeCuda& fake_driver() {
  static void* const file = ::dlopen(NAVTALK_FAKE_CUDA, RTLD_NOW);
  REQUIRE(file != nullptr);
  const auto find = reinterpret_cast<FakeCuda* (*)()>(::dlsym(file, "fake_cuda"));
  REQUIRE(find != nullptr);
  FakeCuda& fake = *find();
  fake.enter_result = fake.copy_result = fake.stream_result = 0;
  fake.begun = 0;
  fake.within = fake.uploads = 0;
  return fake;
}

}  // namespace navtalk::tests
