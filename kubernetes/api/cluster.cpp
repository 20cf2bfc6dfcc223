#include "kubernetes/api/cluster.h"

#include <algorithm>
#include <filesystem>

#include "core/base/environment.h"
#include "core/base/error.h"
#include "core/files/whole_file.h"
#include "core/net/url.h"
#include "core/text/printable.h"

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
    throw Error(Code::invalid,
                "no Kubernetes cluster: set kubernetes.api_url, or run navtalk in a pod, where "
                "KUBERNETES_SERVICE_HOST and KUBERNETES_SERVICE_PORT are set");
  }
  if (host.find(':') != std::string::npos) host = "[" + host + "]";
  cluster.url = "https://" + host + ":" + port;
  if (cluster.token_file.empty()) cluster.token_file = account + "/token";
  if (cluster.tls.ca_file.empty()) cluster.tls.ca_file = account + "/ca.crt";
}

}  // namespace

std::string Cluster::authorization() const {
  if (token_file.empty()) return "";
  std::string token;
  try {
    token = first_line_of(token_file);
  } catch (const Error& error) {
    throw Error(Code::invalid, "the Kubernetes token's file " + error.message());
  }
  const bool plain =
      std::all_of(token.begin(), token.end(), [](char c) { return c > ' ' && c < '\x7f'; });
  if (token.empty() || !plain)
    throw Error(Code::invalid, printable(token_file) + " holds no Kubernetes token");
  return "Bearer " + token;
}

Cluster cluster(Cluster wanted, const std::string& account) {
  const bool own = wanted.url.empty();
  if (own) fill_in_own_cluster(wanted, account);
  while (wanted.url.ends_with('/')) wanted.url.pop_back();
  if (wanted.name_space.empty() && own && is_there(account + "/namespace"))
    wanted.name_space = first_line_of(account + "/namespace");
  if (wanted.name_space.empty()) wanted.name_space = "default";
  const HttpUrl url = parse_http_url(wanted.url);
  if (!url.secure && !url.loopback()) {
    throw Error(Code::invalid, "kubernetes.api_url leads to " + url.authority() +
                                   " without TLS: use https, or a proxy on loopback");
  }
  return wanted;
}

}  // namespace navtalk::kubernetes
