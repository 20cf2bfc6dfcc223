// Tags in texts, such as those of SSML, and other commands to a synthesiser. Stateless.
#pragma once

#include <string>
#include <string_view>

namespace navtalk {

// The text without what looks like a tag: "<break time='1s'/>", "</speak>", "<!-- -->", "<?xml ?>".
// Control characters but line breaks and tabs become spaces. A '<' that no letter, '/', '!' or '?' follows stays, as in "1 < 2".
std::string without_tags(std::string_view text);

}  // namespace navtalk
