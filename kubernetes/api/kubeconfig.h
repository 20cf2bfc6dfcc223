// One context of a kubeconfig file: server, how it is known, and how this process shows who it is.
// Source: Kubernetes' "kubeconfig (v1)" reference. Certificates and keys may be files, whose paths are
// relative to the kubeconfig's folder, or texts in it. Stateless.
#pragma once

#include <filesystem>
#include <string>

#include "kubernetes/api/cluster.h"

namespace navtalk::kubernetes {

// `context` empty: the file's current-context. The namespace may be empty. Error{invalid}, which names
// file and entry, for a file that cannot be read, is not YAML, or lacks an entry; and for what is not
// supported: programs that make credentials (exec, auth-provider), user name with password, acting as
// somebody else, a server whose certificate is not checked or has another name, a proxy.
Cluster read_kubeconfig(const std::filesystem::path& file, const std::string& context);

}  // namespace navtalk::kubernetes
