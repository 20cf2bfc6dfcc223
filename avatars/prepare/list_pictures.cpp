// The pictures of a folder in the order in which people count them.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>

#include "avatars/prepare/source_clip.h"
#include "core/base/error.h"

namespace navtalk {
namespace {

bool is_digit(char c) { return c >= '0' && c <= '9'; }

bool is_picture(const std::filesystem::path& path) {
  std::string suffix = path.extension().string();
  std::transform(suffix.begin(), suffix.end(), suffix.begin(),
                 [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; });
  constexpr std::array<std::string_view, 5> k_known = {".png", ".jpg", ".jpeg", ".bmp", ".webp"};
  return std::find(k_known.begin(), k_known.end(), suffix) != k_known.end();
}

// Takes a run of digits (without its leading zeros) or one other character off the front.
std::string_view take(std::string_view& text) {
  std::size_t length = 1;
  if (is_digit(text[0])) {
    while (length < text.size() && is_digit(text[length])) ++length;
  }
  std::string_view part = text.substr(0, length);
  text.remove_prefix(length);
  while (part.size() > 1 && part[0] == '0') part.remove_prefix(1);
  return part;
}

bool naturally_before(const std::string& left, const std::string& right) {
  std::string_view a = left, b = right;
  while (!a.empty() && !b.empty()) {
    const std::string_view x = take(a), y = take(b);
    if (x == y) continue;
    const bool numbers = is_digit(x[0]) && is_digit(y[0]);
    return numbers && x.size() != y.size() ? x.size() < y.size() : x < y;
  }
  // Names that differ only in leading zeros, or where one is the other's beginning.
  return a.empty() != b.empty() ? a.empty() : left < right;
}

}  // namespace

std::vector<std::filesystem::path> list_pictures(const std::filesystem::path& folder) {
  std::error_code error;
  if (!std::filesystem::is_directory(folder, error))
    throw Error(Code::not_found, fmt::format("{}: no such folder", folder.string()));
  std::vector<std::filesystem::path> pictures;
  for (const auto& entry : std::filesystem::directory_iterator(folder, error))
    if (entry.is_regular_file(error) && is_picture(entry.path())) pictures.push_back(entry.path());
  if (error)
    throw Error(Code::failed, fmt::format("cannot read {}: {}", folder.string(), error.message()));
  if (pictures.empty())
    throw Error(Code::invalid,
                fmt::format("{}: holds no picture (PNG, JPEG, BMP, WebP)", folder.string()));
  std::sort(pictures.begin(), pictures.end(), [](const auto& a, const auto& b) {
    return naturally_before(a.filename().string(), b.filename().string());
  });
  return pictures;
}

}  // namespace navtalk
