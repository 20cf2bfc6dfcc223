#include "core/speech/voices.h"

#include <fmt/format.h>

#include <algorithm>
#include <sstream>

#include "core/base/error.h"
#include "core/speech/espeak.h"

namespace navtalk {

std::vector<Voice> list_voices(const std::stop_token& stop) {
  const RunResult list = run_espeak({"--voices"}, {}, nullptr, stop);
  if (list.exit_status != 0)
    throw Error(Code::failed, "espeak-ng --voices ended with status " +
                                  std::to_string(list.exit_status) + ": " + list.errors);
  return parse_voices(list.output);
}

// " 5  en-us           --/M      English_(America)  gmw/en-US            (en 3)"
std::vector<Voice> parse_voices(std::string_view list) {
  std::vector<Voice> voices;
  std::istringstream lines{std::string(list)};
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line);
    std::string priority, code, age_and_gender, language;
    if (!(words >> priority >> code >> age_and_gender >> language)) continue;
    if (priority.find_first_not_of("0123456789") != std::string::npos) continue;  // the heading
    std::ranges::replace(language, '_', ' ');
    voices.push_back({code, language, age_and_gender.back()});
  }
  std::ranges::sort(voices);
  const auto same =
      std::unique(voices.begin(), voices.end(),
                  [](const Voice& one, const Voice& next) { return one.name == next.name; });
  voices.erase(same, voices.end());
  return voices;
}

// espeak-ng takes an unknown variant (the part behind "+") for none and says nothing; it also
// takes numbers. Each line of its list ends with the variant's file, such as "!v/f3".
void check_voice_variant(const std::string& voice, const std::stop_token& stop,
                         const EspeakLimits& limits) {
  const std::size_t plus = voice.find('+');
  if (plus == std::string::npos) return;
  const std::string variant = voice.substr(plus + 1);
  const auto is_digit = [](char c) { return c >= '0' && c <= '9'; };
  if (!variant.empty() && std::all_of(variant.begin(), variant.end(), is_digit)) return;
  const RunResult list = run_espeak({"--voices=variant"}, {}, nullptr, stop, limits);
  if (list.exit_status != 0)
    throw Error(Code::failed, fmt::format("espeak-ng --voices=variant ended with status {}: {}",
                                          list.exit_status, list.errors));
  const std::string& known = list.output;
  for (const char* end : {" ", "\n"}) {
    if (!variant.empty() && known.find("!v/" + variant + end) != std::string::npos) return;
  }
  throw Error(Code::not_found, "espeak-ng has no voice variant \"" + variant + "\" (of \"" + voice +
                                   "\"): see espeak-ng --voices=variant");
}

std::optional<std::string> unknown_voice(const std::string& voice, const std::stop_token& stop,
                                         const EspeakLimits& limits) {
  if (lacks_voice(run_espeak({"-v", voice, "-q", "--stdin"}, {}, nullptr, stop, limits)))
    return no_such_voice(voice);
  try {
    check_voice_variant(voice, stop, limits);
  } catch (const Error& error) {
    if (error.code() != Code::not_found) throw;
    return error.message();
  }
  return std::nullopt;
}

bool is_of_mbrola(std::string_view voice) {
  const std::size_t folder = voice.rfind('/');
  if (folder != std::string_view::npos) voice.remove_prefix(folder + 1);
  return voice.starts_with("mb-");
}

std::string_view language_of_voice(std::string_view voice) {
  const std::size_t folder = voice.rfind('/');
  if (folder != std::string_view::npos) voice.remove_prefix(folder + 1);
  return voice.substr(0, voice.find_first_of("-+"));
}

}  // namespace navtalk
