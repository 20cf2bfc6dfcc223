// espeak-ng's voices. Stateless.
#pragma once

#include <compare>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "core/speech/espeak.h"

namespace navtalk {

struct Voice {
  std::string name;      // what --voice takes: "en-us"
  std::string language;  // "English (America)"
  char gender = '-';     // F, M or -
  auto operator<=>(const Voice&) const = default;
};

// Sorted by name. Error{not_found} without espeak-ng, Error{failed} when its list cannot be had.
std::vector<Voice> list_voices(const std::stop_token& stop = {});
// The lines of `espeak-ng --voices`; those that are no voice are left out.
std::vector<Voice> parse_voices(std::string_view list);

// Error{not_found} where there is no variant of the name behind "+"; otherwise as list_voices().
void check_voice_variant(const std::string& voice, const std::stop_token& stop = {},
                         const EspeakLimits& limits = {});
// Why there is no such voice; nullopt: there is. Errors of list_voices().
std::optional<std::string> unknown_voice(const std::string& voice, const std::stop_token& stop = {},
                                         const EspeakLimits& limits = {});
// A voice that mbrola speaks, such as "mb-en1": machines with espeak-ng may lack it.
bool is_of_mbrola(std::string_view voice);

// A voice's language: what stands before the variant, the region and the dialect. "en" of "en-us+f3".
std::string_view language_of_voice(std::string_view voice);

}  // namespace navtalk
