// navtalk voices: the voices in which texts are spoken.
#include "core/speech/voices.h"

#include <CLI/CLI.hpp>
#include <memory>
#include <nlohmann/json.hpp>

#include "cmd/commands.h"
#include "cmd/terminal/table.h"
#include "core/base/error.h"
#include "core/text/printable.h"

namespace navtalk::cmd {
namespace {

int voices(const std::string& language, Context& context) {
  std::vector<Voice> list = list_voices(context.stop);
  if (!language.empty())
    std::erase_if(list, [&](const Voice& voice) {
      return language_of_voice(voice.name) != language_of_voice(language);
    });
  if (list.empty())
    throw Error(Code::not_found,
                "espeak-ng has no voice of the language \"" + language + "\": see navtalk voices");
  if (context.json) {
    nlohmann::ordered_json rows = nlohmann::ordered_json::array();
    for (const Voice& voice : list)
      rows.push_back({{"voice", voice.name},
                      {"language", voice.language},
                      {"gender", std::string(1, voice.gender)}});
    context.out.json({{"voices", rows}});
    return 0;
  }
  std::vector<std::vector<std::string>> rows;
  for (const Voice& voice : list)
    rows.push_back(
        {printable(voice.name), printable(voice.language), std::string(1, voice.gender)});
  context.out.write(table({{"voice"}, {"language"}, {"gender"}}, rows, context.colour));
  return 0;
}

}  // namespace

void add_voices(Commands& commands) {
  const auto language = std::make_shared<std::string>();
  CLI::App& command = commands.add(
      {.name = "voices",
       .summary = "List the voices in which espeak-ng speaks texts, by language",
       .examples =
           "  navtalk voices\n"
           "  navtalk voices pt\n"
           "A variant may follow a voice: en-us+f3; espeak-ng --voices=variant lists them.\n",
       .action = [language](Context& context) { return voices(*language, context); }});
  command.add_option("language", *language, "The language, such as en or pt-br; default: all")
      ->type_name("LANGUAGE");
}

}  // namespace navtalk::cmd
