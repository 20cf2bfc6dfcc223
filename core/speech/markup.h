// Tags in texts, such as those of SSML, and other commands to a synthesiser. Stateless.
#pragma once

#include <string>
#include <string_view>

namespace navtalk {

enum class Markup {
  none,  // the text is plain: tags of SSML in it are left out (without_ssml), everything else is spoken
  ssml,  // espeak-ng obeys the tags that it knows
};

// The text with that instead of what looks like a tag: "<break time='1s'/>", "</speak>", "<!-- -->", "<?xml ?>".
// A '<' that no letter, '/', '!' or '?' follows stays, as in "1 < 2".
std::string without_tags(std::string_view text, std::string_view instead = " ");
// The text with a space instead of each tag of SSML 1.1, comment and <?...?>, of which nothing would be read aloud that its author
// meant. What only looks like a tag stays, as in "a <b and c> d" and "List<T>".
std::string without_ssml(std::string_view text);
// With nothing instead of the tags that espeak-ng takes as inside of a word, such as "<b>", and a space instead of all others.
std::string without_tags_in_words(std::string_view text);
// With the tags, and without what stands between those of "metadata", "script" and "style", of which espeak-ng speaks nothing.
std::string without_unspoken(std::string_view text);
// With the characters that references such as "&#102;", "&#x66;" and "&amp;" stand for, and spaces for names that are not XML's.
std::string without_references(std::string_view text);
// SSML whose tags "audio" have another name, which no synthesiser knows: with its own espeak-ng opens the file that such a tag
// names, and has other programs convert it. What stands between these tags is spoken.
std::string without_sounds(std::string_view text);

// The text with spaces instead of control characters, but for line breaks and tabs: espeak-ng takes them for commands, such as that of
// longer pauses.
std::string without_commands(std::string text);

}  // namespace navtalk
