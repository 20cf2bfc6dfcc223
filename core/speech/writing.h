// The writing systems of texts and of languages, as far as telling a text that a voice cannot read
// needs them. Stateless.
#pragma once

#include <optional>
#include <string_view>

namespace navtalk {

struct Writing {
  std::string_view name;      // "Cyrillic"
  std::string_view language;  // a language that espeak-ng speaks, written so: "ru"
  bool operator==(const Writing&) const = default;
};

// The writing of most of the text's letters (UTF-8); nullopt for a text without letters.
std::optional<Writing> writing_of(std::string_view text);
// Whether texts in this language are written so ("ru", "en"; as language_of_voice gives it). Languages
// that are not known are taken to be written in Latin letters.
bool is_written_in(std::string_view language, const Writing& writing);

}  // namespace navtalk
