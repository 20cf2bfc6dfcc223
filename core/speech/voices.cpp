#include "core/speech/voices.h"

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

std::string_view language_of_voice(std::string_view voice) {
  const std::size_t folder = voice.rfind('/');
  if (folder != std::string_view::npos) voice.remove_prefix(folder + 1);
  return voice.substr(0, voice.find_first_of("-+"));
}

}  // namespace navtalk
