// A text as the pieces that subtitles show. Stateless.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace navtalk {

// The sentences of a UTF-8 text, white space within them reduced to single spaces. A sentence ends with
// . ! ? or their like, at a space or the text's end.
std::vector<std::string> sentences_of(std::string_view text);
// A sentence in parts of about `most` characters at most, cut behind , ; : or at a space.
std::vector<std::string> parts_of(std::string_view sentence, std::size_t most);
// A part in lines of about `most` characters, cut at spaces.
std::vector<std::string> lines_of(std::string_view part, std::size_t most);

}  // namespace navtalk
