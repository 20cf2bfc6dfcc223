#include "core/speech/writing.h"

#include <algorithm>
#include <array>
#include <cstdint>

#include "core/text/characters.h"

namespace navtalk {
namespace {

struct Known {
  Writing writing;
  std::string_view languages;                     // espeak-ng's, each between spaces
  std::array<std::array<char32_t, 2>, 4> ranges;  // first and last code point; unused: zeros
};

// Unicode's blocks. The first language is the one that is named.
constexpr Known k_known[] = {
    {{"Latin", "en"}, "", {{{'A', 'Z'}, {'a', 'z'}, {0xC0, 0x24F}, {0x1E00, 0x1EFF}}}},
    {{"Cyrillic", "ru"}, " ru uk be bg mk sr kk ky tt ba cv nog ", {{{0x400, 0x52F}}}},
    {{"Greek", "el"}, " el grc ", {{{0x370, 0x3FF}, {0x1F00, 0x1FFF}}}},
    {{"Arabic", "ar"},
     " ar fa ur sd ug ps ku ",
     {{{0x600, 0x6FF}, {0x750, 0x77F}, {0xFB50, 0xFDFF}, {0xFE70, 0xFEFF}}}},
    {{"Hebrew", "he"}, " he ", {{{0x590, 0x5FF}}}},
    {{"Armenian", "hy"}, " hy hyw ", {{{0x530, 0x58F}}}},
    {{"Georgian", "ka"}, " ka ", {{{0x10A0, 0x10FF}}}},
    {{"Ethiopic", "am"}, " am ti ", {{{0x1200, 0x137F}}}},
    {{"Devanagari", "hi"}, " hi mr ne kok sa ", {{{0x900, 0x97F}}}},
    {{"Bengali", "bn"}, " bn as bpy ", {{{0x980, 0x9FF}}}},
    {{"Gurmukhi", "pa"}, " pa ", {{{0xA00, 0xA7F}}}},
    {{"Gujarati", "gu"}, " gu ", {{{0xA80, 0xAFF}}}},
    {{"Oriya", "or"}, " or ", {{{0xB00, 0xB7F}}}},
    {{"Tamil", "ta"}, " ta ", {{{0xB80, 0xBFF}}}},
    {{"Telugu", "te"}, " te ", {{{0xC00, 0xC7F}}}},
    {{"Kannada", "kn"}, " kn ", {{{0xC80, 0xCFF}}}},
    {{"Malayalam", "ml"}, " ml ", {{{0xD00, 0xD7F}}}},
    {{"Sinhala", "si"}, " si ", {{{0xD80, 0xDFF}}}},
    {{"Thai", "th"}, " th ", {{{0xE00, 0xE7F}}}},
    {{"Myanmar", "my"}, " my shn ", {{{0x1000, 0x109F}}}},
    {{"Hangul", "ko"}, " ko ", {{{0xAC00, 0xD7AF}, {0x1100, 0x11FF}, {0x3130, 0x318F}}}},
    {{"Japanese", "ja"}, " ja ", {{{0x3040, 0x30FF}}}},
    {{"Chinese", "cmn"},
     " cmn yue hak zh ja ",
     {{{0x4E00, 0x9FFF}, {0x3400, 0x4DBF}, {0xF900, 0xFAFF}}}},
};

bool holds(const Known& known, char32_t character) {
  return std::ranges::any_of(known.ranges, [character](const auto& range) {
    return range[0] != 0 && character >= range[0] && character <= range[1];
  });
}

bool lists(std::string_view languages, std::string_view language) {
  const std::size_t at = languages.find(language);
  return at != std::string_view::npos && at > 0 && languages[at - 1] == ' ' &&
         at + language.size() < languages.size() && languages[at + language.size()] == ' ';
}

}  // namespace

std::optional<Writing> writing_of(std::string_view text) {
  std::array<std::size_t, std::size(k_known)> letters{};
  while (!text.empty()) {
    const char32_t character = take_character(text);
    const auto* found = std::ranges::find_if(
        k_known, [character](const Known& known) { return holds(known, character); });
    if (found != std::end(k_known)) ++letters[static_cast<std::size_t>(found - k_known)];
  }
  const auto most = std::ranges::max_element(letters);
  if (*most == 0) return std::nullopt;
  return k_known[most - letters.begin()].writing;
}

bool is_written_in(std::string_view language, const Writing& writing) {
  bool listed = false;
  for (const Known& known : k_known) {
    if (!lists(known.languages, language)) continue;
    if (known.writing == writing) return true;
    listed = true;
  }
  // Serbian and Kazakh, among others, are written in Latin letters too.
  const bool both = lists(" sr kk tt ku ", language);
  return writing.name == "Latin" && (!listed || both);
}

}  // namespace navtalk
