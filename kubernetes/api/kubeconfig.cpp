#include "kubernetes/api/kubeconfig.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>

#include "core/base/error.h"
#include "core/files/whole_file.h"
#include "core/text/base64url.h"
#include "core/text/lenient_json.h"
#include "core/text/printable.h"
#include "kubernetes/api/yaml.h"

namespace navtalk::kubernetes {
namespace {

using nlohmann::json;

// RFC 4648, section 4. Line breaks are passed over, as YAML's folded texts have them.
std::optional<std::string> from_base64(std::string text) {
  std::erase_if(text, [](char c) { return c == '\n' || c == '\r' || c == ' '; });
  while (text.ends_with('=')) text.pop_back();
  std::replace(text.begin(), text.end(), '+', '-');
  std::replace(text.begin(), text.end(), '/', '_');
  return from_base64url(text);
}

class KubeconfigFile {
 public:
  explicit KubeconfigFile(std::filesystem::path file) : file_(std::move(file)) {
    std::string text;
    try {
      const auto bytes = read_file(file_);
      text.assign(bytes.begin(), bytes.end());
    } catch (const Error& error) {
      throw Error(Code::invalid, "kubeconfig " + error.message());
    }
    try {
      all_ = parse_yaml(text);
    } catch (const Error& error) {
      fail(error.message());
    }
    if (!all_.is_object()) fail("it holds no kubeconfig");
  }

  Cluster context(std::string name) const {
    if (name.empty()) name = text_field(all_, "current-context").value_or("");
    if (name.empty()) fail("it has no current-context: set kubernetes.context");
    const json& context = entry("contexts", "context", name);
    const std::string cluster = text_field(context, "cluster").value_or("");
    const std::string user = text_field(context, "user").value_or("");
    Cluster result = server(cluster, entry("clusters", "cluster", cluster));
    if (!user.empty()) show(user, entry("users", "user", user), result);
    result.name_space = text_field(context, "namespace").value_or("");
    return result;
  }

 private:
  [[noreturn]] void fail(const std::string& why) const {
    throw Error(Code::invalid, "kubeconfig " + printable(file_.native()) + ": " + why);
  }
  // clusters, contexts and users are lists of {name: ..., KIND: {...}}.
  const json& entry(const char* list, const char* kind, const std::string& name) const {
    for (const json& one : array_field(all_, list)) {
      if (text_field(one, "name") == name) return object_field(one, kind);
    }
    fail("its " + std::string(list) + " lack '" + printable(name) + "'");
  }
  // What another program reads from the file, and navtalk does not do: it must not be passed over.
  void refuse(const std::string& owner, const json& object, const char* field,
              const char* instead) const {
    const auto found = object.find(field);
    if (found == object.end() || found->is_null() || *found == "" || *found == "false") return;
    fail(owner + " has '" + field + "', which navtalk does not support: " + instead);
  }
  std::string path_of(const json& object, const char* field) const {
    const std::string text = text_field(object, field).value_or("");
    if (text.empty()) return "";
    return (std::filesystem::absolute(file_).parent_path() / text).lexically_normal();
  }
  std::string data_of(const std::string& owner, const json& object, const char* field) const {
    const std::string text = text_field(object, field).value_or("");
    if (text.empty()) return "";
    const auto bytes = from_base64(text);
    if (!bytes || bytes->empty()) fail(owner + ": '" + field + "' is not base64");
    return *bytes;
  }

  Cluster server(const std::string& name, const json& object) const {
    const std::string owner = "the cluster '" + printable(name) + "'";
    refuse(owner, object, "insecure-skip-tls-verify", "give it the certificate of its authority");
    refuse(owner, object, "tls-server-name", "let server name what its certificate says");
    refuse(owner, object, "proxy-url", "set the variable HTTPS_PROXY");
    Cluster result{.url = text_field(object, "server").value_or("")};
    if (result.url.empty()) fail(owner + " has no server");
    result.tls.ca = data_of(owner, object, "certificate-authority-data");
    if (result.tls.ca.empty()) result.tls.ca_file = path_of(object, "certificate-authority");
    return result;
  }
  void show(const std::string& name, const json& object, Cluster& result) const {
    const std::string owner = "the user '" + printable(name) + "'";
    const char* const token = "use a token, a client certificate, or a service account";
    for (const char* field : {"exec", "auth-provider", "username", "password", "as", "as-uid",
                              "as-groups", "as-user-extra"}) {
      refuse(owner, object, field, token);
    }
    result.token_file = path_of(object, "tokenFile");
    if (result.token_file.empty()) result.token = text_field(object, "token").value_or("");
    HttpTls& tls = result.tls;
    tls.certificate = data_of(owner, object, "client-certificate-data");
    if (tls.certificate.empty()) tls.certificate_file = path_of(object, "client-certificate");
    tls.key = data_of(owner, object, "client-key-data");
    if (tls.key.empty()) tls.key_file = path_of(object, "client-key");
    const bool certificate = !tls.certificate.empty() || !tls.certificate_file.empty();
    const bool key = !tls.key.empty() || !tls.key_file.empty();
    if (certificate != key) fail(owner + " has a client certificate or its key, and needs both");
  }

  const std::filesystem::path file_;
  json all_{};
};

}  // namespace

Cluster read_kubeconfig(const std::filesystem::path& file, const std::string& context) {
  return KubeconfigFile(file).context(context);
}

}  // namespace navtalk::kubernetes
