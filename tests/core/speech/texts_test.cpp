// Texts before they are spoken: writing, tags, sentences, subtitles.
#include <catch2/catch.hpp>
#include <tuple>

#include "core/speech/markup.h"
#include "core/speech/sentences.h"
#include "core/speech/subtitles.h"
#include "core/speech/voices.h"
#include "core/speech/writing.h"

using namespace navtalk;
using Pieces = std::vector<std::string>;

TEST_CASE("a text's writing is that of most of its letters") {
  const auto [text, name, language] = GENERATE(table<std::string, std::string, std::string>({
      {"Hello, 1 2 3", "Latin", "en"},
      {"Grüße aus Köln", "Latin", "en"},
      {"Привет, John", "Cyrillic", "ru"},
      {"Γειά σου", "Greek", "el"},
      {"שלום", "Hebrew", "he"},
      {"مرحبا", "Arabic", "ar"},
      {"नमस्ते", "Devanagari", "hi"},
      {"你好", "Chinese", "cmn"},
      {"こんにちは", "Japanese", "ja"},
      {"안녕하세요", "Hangul", "ko"},
  }));
  const std::optional<Writing> writing = writing_of(text);
  REQUIRE(writing);
  CHECK(writing->name == name);
  CHECK(writing->language == language);
  CHECK(is_written_in(language, *writing));
  CHECK(is_written_in("en", *writing) == (name == "Latin"));
}

TEST_CASE("digits, signs and broken bytes have no writing") {
  for (const char* text : {"", "12:30 ...", "\xff\xfe", "\xe4"}) CHECK_FALSE(writing_of(text));
}

TEST_CASE("a language may be written in two ways, and one that is unknown is Latin") {
  const Writing latin = *writing_of("a"), cyrillic = *writing_of("я"), chinese = *writing_of("你");
  CHECK(is_written_in("sr", latin));
  CHECK(is_written_in("sr", cyrillic));
  CHECK(is_written_in("ja", chinese));
  CHECK(is_written_in("quc", latin));
  CHECK_FALSE(is_written_in("ru", latin));
  CHECK_FALSE(is_written_in("de", cyrillic));
}

TEST_CASE("tags are left out of a text, comparisons stay") {
  CHECK(without_tags("<speak>Hi<break time='1s'/>there</speak>") == " Hi there ");
  CHECK(without_tags("a <!-- > not said --> b") == "a   b");
  CHECK(without_tags("1 < 2 > 0, <3, a<") == "1 < 2 > 0, <3, a<");
  CHECK(without_tags("<unfinished") == "<unfinished");
  CHECK(without_tags("<!-- <b>a") == "<!--  a");
}

TEST_CASE("tags of SSML are left out of a plain text, and what only looks like one stays") {
  CHECK(without_ssml("<speak>Hi<break time='1s' strength = \"weak\"/>there</speak >") ==
        " Hi there ");
  CHECK(without_ssml("<p>One</p><s>Two</s><!-- <p> -->Three<?xml version='1.0'?>") ==
        " One  Two  Three ");
  const std::string text =
      GENERATE(as<std::string>{}, "a <b and c> d", "<p and q>", "List<T>", "<b>bold</b>",
               "see <https://x.org>", "1 < 2 > 0", "<break", "<break time=1s/>", "<s <",
               "</p x='1'>", "<>", "<p/ >", "<!-- never ends", "<speaker/>");
  CHECK(without_ssml(text) == text);
  CHECK(without_ssml("if a <b then <break/>stop") == "if a <b then  stop");
}

// With a search for each of them, this test would take hours.
TEST_CASE("a text of tags that never end takes one pass") {
  for (const std::string tag : {"<!--", "<b ", "<b <!--"}) {
    std::string text;
    while (text.size() < 10'000'000) text += tag;
    CHECK((without_tags(text) == text));
    CHECK((without_ssml(text) == text));
  }
}

TEST_CASE("what espeak-ng does not speak is left out between its tags") {
  CHECK(without_unspoken("a <metadata>b</metadata> c") == "a <metadata></metadata> c");
  CHECK(without_unspoken("a<SCRIPT x='1'>b <i>c</i></style>d") ==
        "a<SCRIPT x='1'><i></i></style>d");
  CHECK(without_unspoken("a <style/> b <p>c</p>") == "a <style/> b <p>c</p>");
  CHECK(without_unspoken("a <style>b") == "a <style>");
}

TEST_CASE("tags may leave nothing behind, and references become what they stand for") {
  CHECK(without_tags("fo<b/>ul", "") == "foul");
  CHECK(without_tags_in_words("<p>f<b>o</b>u<Strong x='1'>l</Strong><br/>wo<font>rds</font></p>") ==
        " foul words ");
  CHECK(without_tags_in_words("f<\u0162>o<i\u0100>ul<emphasis>x<bb/>y<!-- b -->z") == "foul x y z");
  CHECK(without_references("a &amp; b &lt;&gt;&quot;&apos;") == "a & b <>\"'");
  CHECK(without_references("&#102;&#x6F;&#X75;&#xfc;&#x1F600;") == "fou\u00fc\U0001F600");
  CHECK(without_references("&nbsp;&#xD800;&#x110000;&#;&#x;&#1f;") == "    ");
  CHECK(without_references("a & b; &, &none &far away;") == "a & b; &, &none &far away;");
}

TEST_CASE("tags that name sound files lose their names, and nothing else is changed") {
  CHECK(without_sounds("<speak>a<audio src='/x'/>b</speak>") ==
        "<speak>a<no-audio src='/x'/>b</speak>");
  for (const std::string name : {"AUDIO", "aUdio", "\u0161udio", "a\u0175\u0164\u0169o"})
    CHECK(without_sounds("<" + name + "\nsrc=/x>") == "<no-" + name + "\nsrc=/x>");
  // In what might be a longer tag, a comment, or at the end.
  CHECK(without_sounds("<b <audio x><!-- <audio -->") == "<b <no-audio x><!-- <no-audio -->");
  CHECK(without_sounds("<audio") == "<no-audio");
  for (const std::string text : {"<audi", "</audio>", "audio", "< audio", "<break/>", "a < b"})
    CHECK(without_sounds(text) == text);
}

TEST_CASE("what a synthesiser would take for commands becomes spaces") {
  CHECK(without_commands("\x01"
                         "1S\tdays\nof silence\r") == " 1S\tdays\nof silence ");
}

TEST_CASE("a text falls into sentences where they end, not at every dot") {
  CHECK(sentences_of(" It costs 3.50.\nReally?  \"Yes!\" No end") ==
        Pieces{"It costs 3.50.", "Really?", "\"Yes!\"", "No end"});
  CHECK(sentences_of("你好。再见！") == Pieces{"你好。", "再见！"});
  CHECK(sentences_of(" \n ").empty());
}

TEST_CASE("a long sentence is cut at its marks, a part at its spaces") {
  const std::string sentence =
      "When the rain had stopped at last, the children ran into the garden, and nobody called them "
      "back before the evening.";
  const Pieces parts = parts_of(sentence, 76);
  CHECK(parts.size() == 2);
  std::string again;
  for (const std::string& part : parts) again += (again.empty() ? "" : " ") + part;
  CHECK(again == sentence);
  for (const std::string& line : lines_of(parts[0], 42)) CHECK(line.size() <= 42);
  CHECK(parts_of("Short.", 76) == Pieces{"Short."});
  CHECK(lines_of("äöüäöüäöü", 4) == Pieces{"äöüä", "öüäö", "ü"});
}

TEST_CASE("subtitles are written as SubRip and as WebVTT") {
  const std::vector<Cue> cues = {{0, 1.25, "Hello,\nyou."}, {3661.0005, 3662.5, "a < b & c"}};
  CHECK(srt(cues) ==
        "1\n00:00:00,000 --> 00:00:01,250\nHello,\nyou.\n\n"
        "2\n01:01:01,001 --> 01:01:02,500\na < b & c\n\n");
  CHECK(vtt(cues) ==
        "WEBVTT\n\n00:00:00.000 --> 00:00:01.250\nHello,\nyou.\n\n"
        "01:01:01.001 --> 01:01:02.500\na &lt; b &amp; c\n\n");
}

TEST_CASE("voices are read from espeak-ng's list") {
  const std::vector<Voice> voices = parse_voices(
      "Pty Language       Age/Gender VoiceName          File                 Other Languages\n"
      " 5  ru              --/M      Russian            zle/ru               \n"
      " 2  en-us           --/F      English_(America)  gmw/en-US            (en 3)\n"
      " 5  en-us           --/M      English_(America)  gmw/en-US            (en 3)\n"
      "nonsense\n");
  REQUIRE(voices.size() == 2);
  CHECK(voices[0] == Voice{"en-us", "English (America)", 'F'});
  CHECK(voices[1] == Voice{"ru", "Russian", 'M'});
  CHECK(language_of_voice("en-us+f3") == "en");
  CHECK(language_of_voice("gmw/en-US") == "en");
  CHECK(is_of_mbrola("mb-en1"));
  CHECK(is_of_mbrola("mb/mb-us1"));
  CHECK_FALSE(is_of_mbrola("gmw/en-US"));
}
