#include "kubernetes/pod_id.h"

#include <string_view>

namespace navtalk::kubernetes {
namespace {
constexpr std::string_view k_scheme = "kubernetes/";
}  // namespace

std::string text_of_id(const PodId& id) {
  return std::string(k_scheme) + id.name_space + "/" + id.name + "/" + id.uid;
}

std::optional<PodId> parse_pod_id(const std::string& text) {
  if (!text.starts_with(k_scheme)) return std::nullopt;
  const std::string rest = text.substr(k_scheme.size());
  const std::size_t first = rest.find('/'), last = rest.rfind('/');
  if (first == std::string::npos || first == last) return std::nullopt;
  return PodId{rest.substr(0, first), rest.substr(first + 1, last - first - 1),
               rest.substr(last + 1)};
}

}  // namespace navtalk::kubernetes
