#include "server/gateway/jobs/speech/plain_words.h"

#include <unicode/bytestream.h>
#include <unicode/normalizer2.h>
#include <unicode/uchar.h>

#include <algorithm>
#include <set>

#include "core/base/error.h"
#include "core/speech/markup.h"
#include "core/text/characters.h"

namespace navtalk::server {
namespace {

// U+0000: a stray byte, which belongs to a word as a letter does.
bool is_stray(std::string_view text) { return take_character(text) == 0; }

// Takes what is UTF-8 off the front of a text.
std::string_view take_valid(std::string_view& text) {
  const std::string_view all = text;
  while (!text.empty() && !is_stray(text)) take_character(text);
  return all.substr(0, all.size() - text.size());
}

// Normalisation takes the square of the marks in a row. No word has more of them (UAX #15, "Stream-Safe Text Format"); the rest is left
// out.
std::string with_few_marks(std::string_view text) {
  constexpr int k_most_marks = 30;
  std::string few;
  few.reserve(text.size());
  for (int marks = 0; !text.empty();) {
    const std::string_view before = text;
    const char32_t character = take_character(text);
    marks = (U_GET_GC_MASK(static_cast<UChar32>(character)) & U_GC_M_MASK) != 0 ? marks + 1 : 0;
    if (marks <= k_most_marks) few += before.substr(0, before.size() - text.size());
  }
  return few;
}

// Without differences of case, of width and of how a character is composed, and without what is to be ignored.
std::string folded(std::string_view text) {
  UErrorCode error = U_ZERO_ERROR;
  const icu::Normalizer2* const fold = icu::Normalizer2::getNFKCCasefoldInstance(error);
  std::string into;
  icu::StringByteSink<std::string> sink(&into);
  if (U_SUCCESS(error))
    fold->normalizeUTF8(0, {text.data(), static_cast<int32_t>(text.size())}, sink, nullptr, error);
  if (U_FAILURE(error))
    throw Error(Code::failed, std::string("the text cannot be compared: ") + u_errorName(error));
  return into;
}

class Words {
 public:
  void add(std::string_view letters) {
    if (apart_ && !words_.empty()) words_ += ' ';
    apart_ = false;
    words_ += letters;
  }
  void add(char32_t character) {
    const auto code = static_cast<UChar32>(character);
    const std::uint32_t kind = U_GET_GC_MASK(code);
    if ((kind & U_GC_CF_MASK) != 0) return;        // nobody sees it
    const bool sign = (kind & U_GC_SO_MASK) != 0;  // a word of its own, such as an emoji
    const bool letter = (kind & (U_GC_L_MASK | U_GC_M_MASK | U_GC_N_MASK)) != 0;
    if (!letter) apart_ = true;
    if (letter || sign) add(utf8_of(character));
    if (sign) apart_ = true;
  }
  std::string take() { return std::move(words_); }

 private:
  std::string words_{};
  bool apart_ = false;
};

}  // namespace

std::string plain_words(std::string_view text) {
  Words words;
  while (!text.empty()) {
    if (is_stray(text)) {
      words.add(text.substr(0, 1));
      text.remove_prefix(1);
      continue;
    }
    const std::string plain = folded(with_few_marks(take_valid(text)));
    for (std::string_view left = plain; !left.empty();) words.add(take_character(left));
  }
  return words.take();
}

std::vector<std::string> heard_words(std::string_view text) {
  std::vector<std::string> heard = {plain_words(text)};
  std::set<std::string> known = {std::string(text)};
  for (const std::string& part : {std::string(text), without_unspoken(text)}) {
    for (const std::string& form : {part, without_ssml(part), without_tags(part),
                                    without_tags(part, ""), without_tags_in_words(part)}) {
      const auto [unknown, is_new] = known.insert(without_references(form));
      if (!is_new) continue;
      std::string words = plain_words(*unknown);
      if (std::ranges::find(heard, words) == heard.end()) heard.push_back(std::move(words));
    }
  }
  return heard;
}

}  // namespace navtalk::server
