// What blocked words are compared in. Pure.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace navtalk::server {

// Words in lower case (ASCII; letters of full width count as ASCII's), apart by one space, without punctuation and without
// characters that nobody sees, such as zero-width spaces and soft hyphens: "fo\u200bul" is "foul".
std::string plain_words(std::string_view text);

// The plain words of what may be heard of a text with markup: with the tags, without them, without those inside of words, and with
// its character references resolved; the same without what is not spoken, such as the content of "<style>". "fo<b/>ul<break/>words" is "fo b ul break words", "fo ul words", "foulwords" and "foul words".
std::vector<std::string> heard_words(std::string_view text);

}  // namespace navtalk::server
