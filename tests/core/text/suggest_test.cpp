#include "core/text/suggest.h"

#include <catch2/catch.hpp>

using navtalk::edit_distance;
using navtalk::suggest;

TEST_CASE("edit distance counts swaps of neighbours as one slip") {
  CHECK(edit_distance("", "") == 0);
  CHECK(edit_distance("abc", "") == 3);
  CHECK(edit_distance("infre", "infer") == 1);
  CHECK(edit_distance("--audoi", "--audio") == 1);
  CHECK(edit_distance("kitten", "sitting") == 3);
}

TEST_CASE("a suggestion is near to what was typed, or there is none") {
  const std::vector<std::string> known = {"infer", "avatar", "model"};
  CHECK(suggest("infr", known) == "infer");
  CHECK(suggest("modle", known) == "model");
  CHECK(suggest("serve", known) == std::nullopt);
  CHECK(suggest("x", {}) == std::nullopt);
  CHECK(navtalk::did_you_mean("avatr", known) == " (did you mean 'avatar'?)");
  CHECK(navtalk::did_you_mean("zzz", known).empty());
}
