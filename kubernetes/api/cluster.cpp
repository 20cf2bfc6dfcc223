#include "kubernetes/api/cluster.h"

#include <algorithm>
#include <filesystem>

#include "core/base/environment.h"
#include "core/base/error.h"
#include "core/files/whole_file.h"
#include "core/net/url.h"
#include "core/text/printable.h"
#include "kubernetes/api/kubeconfig.h"

namespace navtalk::kubernetes {
namespace {

std::string first_line_of(const std::string& file) {
  const auto bytes = read_file(file);
  std::string text(bytes.begin(), bytes.end());
  text.erase(std::min(text.find_first_of("\r\n"), text.size()));
  return text;
}

bool is_there(const std::string& file) {
  std::error_code unused;
  return std::filesystem::exists(file, unused);
}

void fill_in_own_cluster(Cluster& cluster, const std::string& account) {
  std::string host = environment_value("KUBERNETES_SERVICE_HOST");
  const std::string port = environment_value("KUBERNETES_SERVICE_PORT");
  if (host.empty() || port.empty()) {
    throw Error(
        Code::invalid,
        "no Kubernetes cluster: set kubernetes.api_url or kubernetes.kubeconfig, or run "
        "navtalk in a pod, where KUBERNETES_SERVICE_HOST and KUBERNETES_SERVICE_PORT are set");
  }
  if (host.find(':') != std::string::npos) host = "[" + host + "]";
  cluster.url = "https://" + host + ":" + port;
  if (cluster.token_file.empty()) cluster.token_file = account + "/token";
  if (cluster.tls.ca_file.empty()) cluster.tls.ca_file = account + "/ca.crt";
}

bool has_credentials(const Cluster& wanted) {
  return !wanted.token_file.empty() || !wanted.tls.ca_file.empty() ||
         !wanted.tls.certificate_file.empty() || !wanted.tls.key_file.empty();
}

// The kubeconfig's file; empty: there is none.
std::string kubeconfig_file(const Cluster& wanted, const Kubeconfig& kubeconfig) {
  if (!kubeconfig.file.empty()) {
    if (wanted.url.empty() && !has_credentials(wanted)) return kubeconfig.file;
    throw Error(Code::invalid,
                "kubernetes.kubeconfig says server and credentials itself: unset it, or "
                "kubernetes.api_url, token_file, ca_file, certificate_file and key_file");
  }
  if (!wanted.url.empty() || has_credentials(wanted)) return "";
  const std::string named = environment_value("KUBECONFIG");
  if (named.find(':') != std::string::npos) {
    throw Error(Code::invalid,
                "KUBECONFIG names several files: set kubernetes.kubeconfig to the one to use");
  }
  return named;
}

std::string plain_token(const std::string& token, const std::string& where) {
  const bool plain =
      std::all_of(token.begin(), token.end(), [](char c) { return c > ' ' && c < '\x7f'; });
  if (token.empty() || !plain) throw Error(Code::invalid, where + " holds no Kubernetes token");
  return token;
}

}  // namespace

std::string Cluster::authorization() const {
  if (token_file.empty())
    return token.empty() ? "" : "Bearer " + plain_token(token, "the kubeconfig");
  std::string line;
  try {
    line = first_line_of(token_file);
  } catch (const Error& error) {
    throw Error(Code::invalid, "the Kubernetes token's file " + error.message());
  }
  return "Bearer " + plain_token(line, printable(token_file));
}

Cluster cluster(Cluster wanted, const Kubeconfig& kubeconfig, const std::string& account) {
  const std::string file = kubeconfig_file(wanted, kubeconfig);
  if (!file.empty()) {
    Cluster named = read_kubeconfig(file, kubeconfig.context);
    if (!wanted.name_space.empty()) named.name_space = wanted.name_space;
    wanted = std::move(named);
  }
  const bool own = wanted.url.empty();
  if (own) fill_in_own_cluster(wanted, account);
  while (wanted.url.ends_with('/')) wanted.url.pop_back();
  if (wanted.name_space.empty() && own && is_there(account + "/namespace"))
    wanted.name_space = first_line_of(account + "/namespace");
  if (wanted.name_space.empty()) wanted.name_space = "default";
  const HttpUrl url = parse_http_url(wanted.url);
  if (!url.secure && !url.loopback()) {
    throw Error(Code::invalid, "the Kubernetes API's URL leads to " + url.authority() +
                                   " without TLS: use https, or a proxy on loopback");
  }
  return wanted;
}

}  // namespace navtalk::kubernetes
