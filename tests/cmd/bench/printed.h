// What a command's body prints. Its errors pass.
#pragma once

#include <catch2/catch.hpp>
#include <cstdio>
#include <functional>
#include <string>

#include "cmd/context.h"

namespace navtalk::tests {

inline std::string printed(bool json, const std::function<int(cmd::Context&)>& body) {
  std::FILE* file = std::tmpfile();
  REQUIRE(file != nullptr);
  cmd::Context context{.out = cmd::Output(fileno(file)), .json = json};
  const int status = body(context);
  CHECK(status == 0);
  context.out.flush();
  std::rewind(file);
  std::string text;
  for (int c = std::fgetc(file); c != EOF; c = std::fgetc(file)) text += static_cast<char>(c);
  std::fclose(file);
  return text;
}

}  // namespace navtalk::tests
