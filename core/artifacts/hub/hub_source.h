// A repository of a model hub, as it is: https://HUB/ORG/REPO/resolve/REVISION. It is the model REPO, whose
// files and sums come from the hub's API; a manifest of ours in the repository counts instead. NAVTALK_HUB_TOKEN
// opens private ones: it goes to the hub alone, never to where it redirects. Private to core/artifacts.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "core/artifacts/source.h"

namespace navtalk {

struct HubPlace {
  std::string hub{};  // URL; what is before ORG
  std::string organisation{}, repository{}, revision{};

  std::string content_url() const;  // a slash and a file's path are appended
  std::string tree_url() const;     // a slash and the revision are appended
};
// nullopt for another URL.
std::optional<HubPlace> hub_place(const std::string& url);

// Error{invalid} when the token has characters that are not allowed.
std::unique_ptr<ArtifactSource> hub_source(const HubPlace& place, const SourceOptions& options);

}  // namespace navtalk
