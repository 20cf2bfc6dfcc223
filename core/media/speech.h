// Text to speech for demonstrations, by espeak-ng's program.
#pragma once

#include <filesystem>
#include <span>
#include <stop_token>
#include <string>
#include <vector>

#include "core/speech/markup.h"
#include "core/speech/subtitles.h"

namespace navtalk {

// Speaks UTF-8 `text` with an espeak-ng voice (such as "en-us+f3") into a WAV file at `output`.
// Error{not_found} when espeak-ng is not installed (says how to install it) or the voice is
// unknown, Error{invalid} for text without anything to speak.
void speak(const std::string& text, const std::string& voice, const std::filesystem::path& output,
           const std::stop_token& stop = {}, Markup markup = Markup::none);

// Whether none of it is louder than k_quietest_speech. Samples in [-1, 1).
bool is_silent(std::span<const float> samples);

// Subtitles of a plain text that speak() made `duration_s` long, in two lines of 42 characters at most.
// Each sentence is spoken by itself for its length, and each part of a long one. Errors of speak().
std::vector<Cue> subtitles_of(const std::string& text, const std::string& voice, double duration_s,
                              const std::stop_token& stop = {});

}  // namespace navtalk
