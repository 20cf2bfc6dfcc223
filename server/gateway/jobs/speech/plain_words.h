// What blocked words are compared in. Pure.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace navtalk::server {

// Words apart by one space, folded as Unicode says (NFKC_Casefold: without differences of case, width and composition, and
// without characters that nobody sees, such as zero-width spaces and soft hyphens: "FO\u200bUL" is "foul", "GRO\u1e9e" is
// "gross"), and without punctuation of any script. A sign such as an emoji is a word of its own. Bytes that are no UTF-8
// belong to words as they are. Error{failed} where the system's ICU lacks its data.
std::string plain_words(std::string_view text);

// The plain words of what may be heard of a text with markup: with the tags, without them, without those inside of words, and with
// its character references resolved; the same without what is not spoken, such as the content of "<style>". "fo<b/>ul<break/>words" is "fo b ul break words", "fo ul words", "foulwords" and "foul words".
std::vector<std::string> heard_words(std::string_view text);

}  // namespace navtalk::server
