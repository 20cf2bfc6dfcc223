// The fake of NVML, opened for as long as this lives, so that its answers outlast what opens and closes it too.
#pragma once

#include <dlfcn.h>

#include <catch2/catch.hpp>

#include "tests/fakes/fake_nvml.h"

namespace navtalk::tests {

inline constexpr const char* k_fake_nvml = NAVTALK_FAKE_NVML;  // the library's path

class FakeNvmlLibrary {
 public:
  FakeNvmlLibrary() : file_(::dlopen(k_fake_nvml, RTLD_NOW)) {
    REQUIRE(file_ != nullptr);
    const auto find = reinterpret_cast<FakeNvml* (*)()>(::dlsym(file_, "fake_nvml"));
    REQUIRE(find != nullptr);
    fake_ = find();
    fake_->set({});
    fake_->forget_calls();  // where the library stayed
  }
  ~FakeNvmlLibrary() { ::dlclose(file_); }
  FakeNvmlLibrary(const FakeNvmlLibrary&) = delete;
  FakeNvmlLibrary& operator=(const FakeNvmlLibrary&) = delete;

  // The figures of the fake as it is now are the monitor's: of three readings the second is noted.
  void wait_for_readings() const { fake_->wait_for_more(&FakeNvml::Calls::readings, 3); }
  FakeNvml* operator->() const { return fake_; }

 private:
  void* file_;
  FakeNvml* fake_ = nullptr;
};

}  // namespace navtalk::tests
