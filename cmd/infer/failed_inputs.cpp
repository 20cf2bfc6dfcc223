#include "cmd/infer/failed_inputs.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace navtalk::cmd {
namespace {

constexpr std::size_t k_most_names = 20;  // in one message

}  // namespace

void FailedInputs::add(const std::string& name, Code code) {
  names_.push_back(name);
  codes_.push_back(code);
}

void FailedInputs::throw_if_any(std::size_t inputs) const {
  if (names_.empty()) return;
  const bool alike = std::ranges::all_of(codes_, [&](Code code) { return code == codes_.front(); });
  const std::size_t shown = std::min(names_.size(), k_most_names);
  std::string message = fmt::format(
      "{} of {} inputs failed: {}", names_.size(), inputs,
      fmt::join(names_.begin(), names_.begin() + static_cast<std::ptrdiff_t>(shown), ", "));
  if (shown < names_.size()) message += fmt::format(" and {} more", names_.size() - shown);
  throw Error(alike ? codes_.front() : Code::failed, message);
}

}  // namespace navtalk::cmd
