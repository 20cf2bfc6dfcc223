// The provider's id of a pod: "kubernetes/NAMESPACE/NAME/UID". It names the provider, so that another
// provider does not mistake it for its own, and the uid, because a name may be used again. Pure.
#pragma once

#include <optional>
#include <string>

namespace navtalk::kubernetes {

struct PodId {
  std::string name_space{}, name{}, uid{};
};

std::string text_of_id(const PodId& id);
// nullopt for another provider's id.
std::optional<PodId> parse_pod_id(const std::string& text);

}  // namespace navtalk::kubernetes
