#include "runpod/api/api_key.h"

#include <sys/stat.h>

#include <algorithm>

#include "core/base/environment.h"
#include "core/base/error.h"
#include "core/files/whole_file.h"
#include "core/log/log.h"
#include "core/text/printable.h"

namespace navtalk::runpod {
namespace {

constexpr const char* k_variable = "RUNPOD_API_KEY";

// A configuration that names a file that is not there is a wrong configuration.
std::vector<std::uint8_t> bytes_of(const std::filesystem::path& file) {
  try {
    return read_file(file);
  } catch (const Error& error) {
    throw Error(Code::invalid, "the Runpod API key's file " + error.message());
  }
}

std::string first_line(const std::filesystem::path& file) {
  const std::vector<std::uint8_t> bytes = bytes_of(file);
  std::string text(bytes.begin(), bytes.end());
  text.erase(std::min(text.find_first_of("\r\n"), text.size()));
  return text;
}

void warn_if_open(const std::filesystem::path& file) {
  struct stat status {};
  if (::stat(file.c_str(), &status) == 0 && (status.st_mode & 077) != 0) {
    log::warn("other users can read the Runpod API key; run chmod 600 on its file",
              {{"file", file.native()}});
  }
}

bool printable_ascii(const std::string& text) {
  return std::all_of(text.begin(), text.end(), [](char c) { return c > ' ' && c < '\x7f'; });
}

}  // namespace

std::string ApiKey::struck_from(std::string text) const {
  constexpr std::string_view k_mark = "[key]";
  for (std::size_t at = text.find(text_); !text_.empty() && at != std::string::npos;
       at = text.find(text_, at + k_mark.size())) {
    text.replace(at, text_.size(), k_mark);
  }
  return text;
}

ApiKey read_api_key(const std::filesystem::path& file) {
  std::string key, origin = k_variable;
  if (!file.empty()) {
    origin = printable(file.native());
    warn_if_open(file);
    key = first_line(file);
  } else {
    key = environment_value(k_variable);
  }
  if (key.empty()) {
    throw Error(Code::invalid,
                "no Runpod API key in " + origin + ": set runpod.api_key_file or RUNPOD_API_KEY");
  }
  if (!printable_ascii(key)) {
    throw Error(Code::invalid,
                origin + " holds no API key: it has spaces or unprintable characters");
  }
  return ApiKey(std::move(key));
}

bool has_api_key(const std::filesystem::path& file) {
  return !file.empty() || !environment_value(k_variable).empty();
}

}  // namespace navtalk::runpod
