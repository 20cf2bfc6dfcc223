#include "runpod/api/api_key.h"

#include <algorithm>

#include "core/base/environment.h"
#include "core/base/error.h"
#include "core/files/secret_file.h"
#include "core/text/printable.h"

namespace navtalk::runpod {
namespace {

constexpr SecretKind k_kind{.name = "Runpod API key", .variable = "RUNPOD_API_KEY"};

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
  // Unlike other secrets, a file that is named comes before the variable.
  std::string key = file.empty() ? read_secret(k_kind, "") : read_secret_file(k_kind, file);
  const std::string origin = file.empty() ? k_kind.variable : printable(file.native());
  if (key.empty()) {
    throw Error(Code::invalid,
                "no Runpod API key in " + origin + ": set runpod.api_key_file or RUNPOD_API_KEY");
  }
  if (!printable_ascii(key)) {
    throw Error(Code::invalid,
                origin + " does not hold an API key: it has spaces or unprintable characters");
  }
  return ApiKey(std::move(key));
}

bool has_api_key(const std::filesystem::path& file) {
  return !file.empty() || !environment_value(k_kind.variable).empty();
}

}  // namespace navtalk::runpod
