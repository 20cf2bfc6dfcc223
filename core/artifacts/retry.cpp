#include "core/artifacts/retry.h"

#include <algorithm>

namespace navtalk {
namespace {

using namespace std::chrono_literals;

constexpr std::chrono::milliseconds k_first = 250ms, k_longest = 8s, k_longest_asked = 30s;
constexpr int k_doublings = 5;  // 0.25 s to 8 s

}  // namespace

std::chrono::milliseconds retry_delay(int failures, double chance,
                                      std::optional<std::chrono::seconds> asked) {
  const auto doubled = k_first * (1 << std::clamp(failures - 1, 0, k_doublings));
  const auto whole = std::min<std::chrono::milliseconds>(doubled, k_longest);
  const auto less = std::chrono::duration_cast<std::chrono::milliseconds>(whole / 2 * chance);
  const auto demanded = std::min<std::chrono::milliseconds>(asked.value_or(0s), k_longest_asked);
  return std::max(whole - less, demanded);
}

}  // namespace navtalk
