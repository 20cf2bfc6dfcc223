#include "kubernetes/api/owner.h"

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>

#include "core/base/error.h"
#include "core/text/lenient_json.h"
#include "core/text/percent.h"
#include "core/text/printable.h"

namespace navtalk::kubernetes {
namespace {

struct OwnerKind {
  const char *kind, *api_version, *plural;
};
constexpr std::array k_owner_kinds = {OwnerKind{"ConfigMap", "v1", "configmaps"},
                                      OwnerKind{"DaemonSet", "apps/v1", "daemonsets"},
                                      OwnerKind{"Deployment", "apps/v1", "deployments"},
                                      OwnerKind{"ReplicaSet", "apps/v1", "replicasets"},
                                      OwnerKind{"Secret", "v1", "secrets"},
                                      OwnerKind{"Service", "v1", "services"},
                                      OwnerKind{"ServiceAccount", "v1", "serviceaccounts"},
                                      OwnerKind{"StatefulSet", "apps/v1", "statefulsets"}};

}  // namespace

Owner parse_owner(const std::string& text) {
  const std::size_t mark = std::min(text.find('/'), text.size());
  const std::string kind = text.substr(0, mark);
  const std::string name = text.substr(std::min(mark + 1, text.size()));
  for (const OwnerKind& known : k_owner_kinds) {
    if (kind == known.kind && !name.empty() && name.find('/') == std::string::npos)
      return {kind, name, known.api_version, known.plural};
  }
  std::string kinds;
  for (const OwnerKind& known : k_owner_kinds)
    kinds += (kinds.empty() ? "" : ", ") + std::string(known.kind);
  throw Error(Code::invalid, "'" + printable(text) +
                                 "' is not an owner: write KIND/NAME, with a KIND of " + kinds);
}

std::string path_of(const Owner& owner, const std::string& name_space) {
  const bool core = owner.api_version.find('/') == std::string::npos;
  return (core ? "/api/" : "/apis/") + owner.api_version + "/namespaces/" +
         percent_encoded(name_space) + "/" + owner.plural + "/" + percent_encoded(owner.name);
}

std::optional<OwnerReference> parse_owner_object(const Owner& owner, const std::string& body) {
  const auto object = parse_json(body);
  if (!object || text_field(*object, "kind") != owner.kind) return std::nullopt;
  const std::string uid = text_field(object_field(*object, "metadata"), "uid").value_or("");
  if (uid.empty()) return std::nullopt;
  return OwnerReference{owner.api_version, owner.kind, owner.name, uid};
}

}  // namespace navtalk::kubernetes
