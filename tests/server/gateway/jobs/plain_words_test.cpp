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
  CHECK(plain_words("...").empty());
  CHECK(plain_words("a\u00a0b\u3000c\u2009d") == "a b c d");
  CHECK(plain_words("\uff26\uff4f\uff55\uff4c\uff01") == "foul");
  CHECK(plain_words("a\xff"
                    "b") ==
        "a\xff"
        "b");
}

TEST_CASE("words of any script are compared without case and composition") {
  CHECK(plain_words("GR\u00dc\u1e9eE") == "gr\u00fcsse");
  CHECK(plain_words("Gru\u0308\u00dfe") == "gr\u00fcsse");
  CHECK(plain_words("\u0424\u0423 \u03a6\u039f\u03a3") == "\u0444\u0443 \u03c6\u03bf\u03c3");
  CHECK(plain_words("\u03c6\u03bf\u03c2") == plain_words("\u03a6\u039f\u03a3"));
  CHECK(plain_words("\U0001d404\ufb01ne") == "efine");
  CHECK(plain_words("\u0939\u093f\u0928\u094d\u0926\u0940") ==
        "\u0939\u093f\u0928\u094d\u0926\u0940");
}

TEST_CASE("punctuation of any script parts words and belongs to none") {
  for (const char* text :
       {"\u201cfoul\u201d", "\u2018foul\u2019", "\u00abfoul\u00bb", "\u201efoul\u201c",
        "\u300cfoul\u300d", "foul\u2026", "foul\u2014", "\u00bffoul?", "\ue000 foul\ue000"})
    CHECK(plain_words(text) == "foul");
  CHECK(plain_words("don\u2019t") == plain_words("don't"));
  CHECK(plain_words("\u201c\u201d").empty());
}

TEST_CASE("a sign is a word of its own") {
  CHECK(plain_words("foul\U0001f600") == "foul \U0001f600");
  CHECK(plain_words("\U0001f600\ufe0f\U0001f600foul") == "\U0001f600 \U0001f600 foul");
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
  CHECK(hears("<foul <break/> language>", "foul language"));
  CHECK(hears("<foul <!-- --> language>", "foul language"));
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

TEST_CASE("of many marks in a row the first thirty count") {
  std::string marked = "a";
  for (int i = 0; i < 30; ++i) marked += "\u0301";
  const std::string words = plain_words(marked);
  for (int i = 0; i < 1000; ++i) marked += "\u0316";
  CHECK(plain_words(marked) == words);
  CHECK(plain_words(marked + "b") == words + "b");
}
