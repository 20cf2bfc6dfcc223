// A kubeconfig file: which context it gives, and what is refused. The texts are written for these tests.
#include <catch2/catch.hpp>
#include <cstdlib>
#include <fstream>
#include <nlohmann/json.hpp>

#include "core/base/error.h"
#include "core/files/temporary_folder.h"
#include "kubernetes/api/cluster.h"
#include "kubernetes/api/kubeconfig.h"
#include "kubernetes/api/yaml.h"

namespace navtalk::kubernetes {
namespace {

constexpr const char* k_file = R"(apiVersion: v1
kind: Config
current-context: live
preferences: {}
clusters:
- name: main
  cluster:
    server: https://10.0.0.1:6443/
    certificate-authority-data: LS0t+/8=
- {name: other, cluster: {server: "https://other.example", certificate-authority: pki/ca.crt}}
contexts:
- context: {cluster: main, namespace: gpus, user: machine}
  name: live
- context:
    cluster: other
    user: person
  name: test
- context: {cluster: main, user: cloud}
  name: cloud
- context: {cluster: nowhere, user: person}
  name: lost
users:
- name: machine
  user: {client-certificate-data: Y2VydA==, client-key-data: a2V5}
- name: person
  user: {tokenFile: secret/token, token: unused}
- name: cloud
  user:
    exec:
      apiVersion: client.authentication.k8s.io/v1
      command: gke-gcloud-auth-plugin
)";

struct KubeconfigInFolder {
  explicit KubeconfigInFolder(const std::string& text = k_file) { std::ofstream(path()) << text; }
  std::filesystem::path path() const { return folder.path() / "config"; }
  TemporaryFolder folder{};
};

std::string refusal(const std::string& text, const std::string& context = "") {
  const KubeconfigInFolder file(text);
  try {
    read_kubeconfig(file.path(), context);
  } catch (const Error& error) {
    return error.message();
  }
  return "";
}

std::string replaced(std::string text, const std::string& what, const std::string& by) {
  const std::size_t at = text.find(what);
  REQUIRE(at != std::string::npos);
  return text.replace(at, what.size(), by);
}

TEST_CASE("a kubeconfig gives server, certificates and namespace of its current context") {
  const KubeconfigInFolder file;
  const Cluster found = cluster({}, {.file = file.path()});
  CHECK(found.url == "https://10.0.0.1:6443");
  CHECK(found.name_space == "gpus");
  CHECK(found.tls.ca == "---\xfb\xff");
  CHECK(found.tls.certificate == "cert");
  CHECK(found.tls.key == "key");
  CHECK(found.authorization().empty());
  CHECK(cluster({.name_space = "mine"}, {.file = file.path()}).name_space == "mine");
}

TEST_CASE("another context gives files beside the kubeconfig, and its token's file is read anew") {
  const KubeconfigInFolder file;
  std::filesystem::create_directory(file.folder.path() / "secret");
  std::ofstream(file.folder.path() / "secret/token") << "one\n";
  const Cluster found = cluster({}, {.file = file.path(), .context = "test"});
  CHECK(found.url == "https://other.example");
  CHECK(found.name_space == "default");
  CHECK(found.tls.ca_file == file.folder.path() / "pki/ca.crt");
  CHECK(found.authorization() == "Bearer one");
  std::ofstream(file.folder.path() / "secret/token") << "two\n";
  CHECK(found.authorization() == "Bearer two");
  const auto inline_token = KubeconfigInFolder(replaced(k_file, "tokenFile: secret/token, ", ""));
  CHECK(read_kubeconfig(inline_token.path(), "test").authorization() == "Bearer unused");
}

TEST_CASE("what a kubeconfig lacks, or navtalk does not do, is named") {
  struct Row {
    std::string text, context;
    const char* word;
  };
  const std::string file = k_file;
  for (const Row& row : std::initializer_list<Row>{
           {file, "cloud", "the user 'cloud' has 'exec'"},
           {file, "none", "its contexts lack 'none'"},
           {file, "lost", "its clusters lack 'nowhere'"},
           {replaced(file, "user: machine", "user: nobody"), "", "its users lack 'nobody'"},
           {replaced(file, "current-context: live\n", ""), "", "kubernetes.context"},
           {replaced(file, "    server: https://10.0.0.1:6443/\n", ""), "", "has no server"},
           {replaced(file, "LS0t+/8=", "L*"), "", "'certificate-authority-data' is not base64"},
           {replaced(file, ", client-key-data: a2V5", ""), "", "needs both"},
           {replaced(file, "    certificate-authority-data: LS0t+/8=",
                     "    insecure-skip-tls-verify: true"),
            "", "'insecure-skip-tls-verify'"},
           {replaced(file, "tokenFile: secret/token", "username: a, password: b"), "test",
            "'username'"},
           {replaced(file, "kind: Config", "kind: [Config"), "", "line 3, column"},
           {"- a list\n", "", "holds no kubeconfig"}}) {
    CAPTURE(row.text, row.context, row.word);
    CHECK_THAT(refusal(row.text, row.context), Catch::Contains(row.word));
  }
  CHECK_FALSE(refusal(replaced(file, "kind: Config", "kind: [Config")).find("config: line") ==
              std::string::npos);
  CHECK_THROWS_AS(read_kubeconfig("/nowhere/config", ""), Error);
}

TEST_CASE("a kubeconfig does not stand beside a URL or credentials of the settings") {
  const KubeconfigInFolder file;
  CHECK_THROWS_AS(cluster({.url = "https://10.0.0.1"}, {.file = file.path()}), Error);
  CHECK_THROWS_AS(cluster({.token_file = "/token"}, {.file = file.path()}), Error);
}

TEST_CASE("the variable KUBECONFIG is read where no setting says otherwise") {
  const KubeconfigInFolder file;
  ::setenv("KUBECONFIG", file.path().c_str(), 1);
  CHECK(cluster({}).url == "https://10.0.0.1:6443");
  CHECK(cluster({.url = "https://10.0.0.2"}).url == "https://10.0.0.2");
  ::setenv("KUBECONFIG", "/a:/b", 1);
  CHECK_THROWS_AS(cluster({}), Error);
  ::unsetenv("KUBECONFIG");
}

TEST_CASE(
    "YAML's aliases, quotes, comments and nothing are read; what grows without bound is not") {
  const auto value = parse_yaml("a: &x [1, 'null', ~, ]  # one\nb: *x\nc:\nd: |\n  two\n  lines\n");
  CHECK(value == nlohmann::json({{"a", {"1", "null", nullptr}},
                                 {"b", {"1", "null", nullptr}},
                                 {"c", nullptr},
                                 {"d", "two\nlines\n"}}));
  CHECK(parse_yaml("").is_null());
  std::string bomb = "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n";
  for (int i = 1; i < 9; ++i) {
    const std::string last = "*a" + std::to_string(i - 1);
    bomb += "a" + std::to_string(i) + ": &a" + std::to_string(i) + " [" + last;
    for (int times = 1; times < 10; ++times) bomb += ", " + last;
    bomb += "]\n";
  }
  CHECK_THROWS_WITH(parse_yaml(bomb), Catch::Contains("too many values"));
  CHECK_THROWS_WITH(parse_yaml(std::string(40, '[') + std::string(40, ']')),
                    Catch::Contains("nested too deep"));
  CHECK_THROWS_WITH(parse_yaml("a: &a [*a]\n"), Catch::Contains("nested too deep"));
  CHECK_THROWS_WITH(parse_yaml("? [a]\n: b\n"), Catch::Contains("a key is not text"));
}

}  // namespace
}  // namespace navtalk::kubernetes
