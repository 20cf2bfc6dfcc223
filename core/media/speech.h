// Text to speech for demonstrations: runs espeak-ng as a process (it is GPL, so it is not linked).
#pragma once

#include <filesystem>
#include <stop_token>
#include <string>
#include <vector>

namespace navtalk {

// Speaks UTF-8 `text` with an espeak-ng voice (such as "en-us+f3") into a WAV file at `output`.
// Error{not_found} when espeak-ng is not installed (says how to install it) or the voice is
// unknown, Error{invalid} for text without anything to speak.
void speak(const std::string& text, const std::string& voice, const std::filesystem::path& output,
           const std::stop_token& stop = {});

}  // namespace navtalk
