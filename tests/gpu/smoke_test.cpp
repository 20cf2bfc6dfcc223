#include <catch2/catch.hpp>

#include "core/base/error.h"

TEST_CASE("an error keeps its code when a layer adds a phrase") {
  const navtalk::Error error(navtalk::Code::invalid, "truncated");
  CHECK(error.within("unet.pth").message() == "unet.pth: truncated");
  CHECK(error.within("unet.pth").code() == navtalk::Code::invalid);
}
