// The pod of one worker, as the API wants it. Pure.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "kubernetes/api/owner.h"

namespace navtalk::kubernetes {

// Of every pod: the pool's id, the row's id, and the row's name as the store has it.
inline constexpr const char* k_pool_label = "navtalk/pool-id";
inline constexpr const char* k_gpu_label = "navtalk/gpu";
inline constexpr const char* k_row_annotation = "navtalk/row";
// May the cluster's autoscaler evict the pod? "true" must be said: it keeps every node on which a pod
// without a controller has no word about it.
inline constexpr const char* k_evictable_annotation =
    "cluster-autoscaler.kubernetes.io/safe-to-evict";

struct Toleration {
  std::string key{}, value{}, effect{};  // no value: the key is enough; no effect: all of them

  friend bool operator==(const Toleration&, const Toleration&) = default;
};

// What every pod of the pool has.
struct PodSettings {
  std::string image{};
  std::string gpu_resource = "nvidia.com/gpu";
  int gpus = 1;
  std::map<std::string, std::string> node_selector{};
  std::vector<Toleration> tolerations{};
  std::vector<std::string> image_pull_secrets{};
  std::string priority_class{}, runtime_class{};  // empty: the cluster's default
};

struct NewPod {
  std::string name{};  // of the object: object_name(row)
  std::optional<OwnerReference> owner{};
  std::string row{}, gpu_id{}, pool_id{};
  std::vector<std::string> args{};
  std::map<std::string, std::string> env{};
  int port = 0;
};

// "key=value", as in kubectl. Error{invalid} for another form.
std::pair<std::string, std::string> parse_node_label(const std::string& text);
// "key", "key=value", "key:Effect" or "key=value:Effect". Error{invalid} for another form, or an effect
// that Kubernetes does not have.
Toleration parse_toleration(const std::string& text);

// Names of objects are in lower case.
std::string object_name(const std::string& row);
// The pod may be evicted: it has no session yet.
std::string manifest(const PodSettings& settings, const NewPod& pod);
// A JSON merge patch of the pod with that uid: the server answers 409 for another one.
std::string evictable_patch(const std::string& uid, bool evictable);

}  // namespace navtalk::kubernetes
