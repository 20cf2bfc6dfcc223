// What owns a pool's pods: an object of their namespace, with which Kubernetes deletes them. Pure.
#pragma once

#include <optional>
#include <string>

namespace navtalk::kubernetes {

struct Owner {
  std::string kind{}, name{};
  std::string api_version{};  // "apps/v1"
  std::string plural{};       // of the kind, in paths
};

// As metadata.ownerReferences has it.
struct OwnerReference {
  std::string api_version{}, kind{}, name{}, uid{};
};

// "KIND/NAME". Error{invalid} for another form, or a kind that cannot own pods here; it names those that
// can.
Owner parse_owner(const std::string& text);
// Of the object in that namespace, below the server's URL.
std::string path_of(const Owner& owner, const std::string& name_space);
// The server's answer to a GET of that path. nullopt: it is not that object.
std::optional<OwnerReference> parse_owner_object(const Owner& owner, const std::string& body);

}  // namespace navtalk::kubernetes
