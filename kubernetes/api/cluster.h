// Where a cluster's API server is, and how this process shows who it is: a token, a client
// certificate, a kubeconfig file, or what a pod finds about its own cluster. An immutable value, so
// thread-safe.
#pragma once

#include <string>

#include "core/net/http_client.h"

namespace navtalk::kubernetes {

struct Cluster {
  std::string url{};         // without a slash at the end
  std::string token_file{};  // read before every request: the cluster replaces it; empty: `token`
  std::string token{};       // empty: none
  HttpTls tls{};
  std::string name_space{};

  // "Bearer ..."; empty: no token. Error{invalid}: the file cannot be read, or holds no token.
  std::string authorization() const;
};

struct Kubeconfig {
  std::string file{};     // empty: that of the variable KUBECONFIG
  std::string context{};  // empty: the file's current one
};

// Empty parts of `wanted` are filled in. Without a URL they come from the kubeconfig; where there is none,
// it is the cluster that this process runs in, by KUBERNETES_SERVICE_HOST and KUBERNETES_SERVICE_PORT and
// the service account's files under `account`. Error{invalid}: no URL, no kubeconfig and not in a
// cluster; a URL or other credentials beside the kubeconfig that was asked for; errors of
// read_kubeconfig() (kubeconfig.h); a URL that is not valid, or one that would show the token to the
// network in clear text.
Cluster cluster(Cluster wanted, const Kubeconfig& kubeconfig = {},
                const std::string& account = "/var/run/secrets/kubernetes.io/serviceaccount");

}  // namespace navtalk::kubernetes
