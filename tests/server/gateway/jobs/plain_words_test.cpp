#include "server/gateway/jobs/speech/plain_words.h"

#include <algorithm>
#include <catch2/catch.hpp>

using namespace navtalk::server;

namespace {

bool hears(const std::string& text, const std::string& words) {
  const std::vector<std::string> heard = heard_words(text);
  return std::ranges::any_of(heard, [&](const std::string& form) {
    return (" " + form + " ").find(" " + words + " ") != std::string::npos;
  });
}

}  // namespace

TEST_CASE("words are compared without case, punctuation and the width of spaces") {
  CHECK(plain_words("  This is FOUL,\n language! ") == "this is foul language");
  CHECK(plain_words("Gr\u00fc\u00dfe") == "gr\u00fc\u00dfe");
  CHECK(plain_words("...").empty());
  CHECK(plain_words("a\u00a0b\u3000c\u2009d") == "a b c d");
  CHECK(plain_words("\uff26\uff4f\uff55\uff4c\uff01") == "foul");
  CHECK(plain_words("a\xff"
                    "b") ==
        "a\xff"
        "b");
}

TEST_CASE("characters that nobody sees part no words") {
  CHECK(plain_words("fo\u200bul") == "foul");
  CHECK(plain_words("f\u00ado\u200d\u2060u\ufeffl\ufe0f") == "foul");
  CHECK(plain_words("\u200bfoul\u200b") == "foul");
  CHECK(plain_words("\u200b").empty());
  CHECK(plain_words("no \u200b foul") == "no foul");
}

TEST_CASE(
    "words are heard that something unspoken parts, and so is that, where it is spoken after all") {
  CHECK(hears("foul <metadata>kind</metadata> language", "foul language"));
  CHECK(hears("<speak>foul<SCRIPT x='1'>kind</script>language</speak>", "foul language"));
  CHECK(hears("fo<style>kind</style>ul", "foul"));
  CHECK(hears("foul <style>kind <b>and</b> warm</style> language", "foul language"));
  CHECK(hears("<metadata>foul language</metadata>", "foul language"));
  CHECK_FALSE(hears("foul <p>kind</p> language", "foul language"));
}

TEST_CASE("words are heard behind tags and references") {
  CHECK(hears("fo<break time='1ms'/>ul", "foul"));
  CHECK(hears("<speak>f<emphasis>ou</emphasis>l</speak>", "foul"));
  CHECK(hears("<b>foul</b><i>language</i>", "foul language"));
  CHECK(hears("<sub alias='foul'>kind</sub>", "foul"));
  CHECK(hears("&#102;o&#x75;l", "foul"));
  CHECK(hears("fo&#x200B;ul", "foul"));
  CHECK(hears("foul&nbsp;language", "foul language"));
  CHECK(hears("1 < 2, foul > 0", "foul"));
  CHECK(hears("<speak>very<break/>fo<b/>ul<break/>words</speak>", "foul"));
  CHECK(hears("<p>very fo<EM class='x'>u</EM>l<s>words</s></p>", "very foul words"));
  CHECK_FALSE(hears("befoul<b/>ed", "foul"));
  CHECK(heard_words("Plain words.").size() == 1);
}
