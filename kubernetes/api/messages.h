// What the Kubernetes API says of pods, as plain values. Reading is lenient: unknown fields and words,
// null or missing parts. A pod's environment holds its worker's token and is not read. Pure.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include "kubernetes/api/fault.h"

namespace navtalk::kubernetes {

struct Pod {
  std::string name{}, uid{}, version{};  // metadata; name and uid are never empty
  std::string pool_id{};                 // label
  std::string row{};                     // the row's name, annotation
  std::optional<bool> evictable{};       // by the autoscaler, annotation; nullopt: another word
  std::string phase{};                   // Pending, Running, Succeeded, Failed, Unknown
  std::string reason{};                  // Evicted, Preempting, ErrImagePull, ...
  std::string node{}, ip{};
  bool terminating = false;                                           // its deletion was asked for
  bool unschedulable = false;                                         // the scheduler found no node
  std::optional<std::chrono::system_clock::time_point> created_at{};  // by the server's clock

  bool ended() const { return phase == "Succeeded" || phase == "Failed"; }
};

struct PodPage {
  std::vector<Pod> pods{};
  std::string version{};  // of the list, from which a watch goes on
  std::string next{};     // empty: the last page
  bool whole = true;      // false: an entry could not be read
};

// One line of a watch.
struct PodEvent {
  enum class Kind {
    is,        // the pod is like this now
    gone,      // its object was removed; the pod as it was last
    bookmark,  // only the version of everything before
    error,     // the stream ends
  } kind{};
  Pod pod{};         // bookmark: its version alone; error: empty
  ApiFault fault{};  // of an error
};

// nullopt: the text is not what it should be.
std::optional<PodEvent> parse_pod_event(const std::string& line);
std::optional<Pod> parse_pod(const std::string& body);
std::optional<PodPage> parse_pods(const std::string& body);

}  // namespace navtalk::kubernetes
