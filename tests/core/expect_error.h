// What a call threw, as data: CHECK(error_of([&] { ... }).code == Code::invalid).
#pragma once

#include <catch2/catch.hpp>
#include <string>

#include "core/base/error.h"

namespace navtalk::test {

template <class F>
Error error_of(F&& call) {
  try {
    call();
  } catch (const Error& error) {
    return error;
  }
  FAIL("nothing was thrown");
  return {Code::failed, ""};
}

// The code, and every phrase in the message.
template <class F>
void expect_error(Code code, const std::vector<std::string>& phrases, F&& call) {
  const Error error = error_of(call);
  INFO(error.message());
  CHECK(error.code() == code);
  for (const std::string& phrase : phrases) CHECK_THAT(error.message(), Catch::Contains(phrase));
}

}  // namespace navtalk::test
