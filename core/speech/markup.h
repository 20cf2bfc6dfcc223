// Tags in texts, such as those of SSML, and other commands to a synthesiser. Stateless.
#pragma once

#include <string>
#include <string_view>

namespace navtalk {

// The text without what looks like a tag: "<break time='1s'/>", "</speak>", "<!-- -->", "<?xml ?>".
// A '<' that no letter, '/', '!' or '?' follows stays, as in "1 < 2".
std::string without_tags(std::string_view text);

// The text with spaces instead of control characters, but for line breaks and tabs: espeak-ng takes them for commands, such as that of
// longer pauses.
std::string without_commands(std::string text);

}  // namespace navtalk
