// A bucket of S3 as a server of this process: what it was sent stands in memory.
#pragma once

#include <algorithm>
#include <map>
#include <memory>
#include <mutex>
#include <string>

#include "server/gateway/jobs/job_bucket.h"
#include "tests/fakes/loopback_server.h"

namespace navtalk::tests {

// Objects in memory, for the requests of a bucket.
class MemoryBucket {
 public:
  bool has(const std::string& name) {
    const std::lock_guard lock(mutex_);
    return std::ranges::any_of(objects_,
                               [&](const auto& one) { return one.first.ends_with(name); });
  }
  std::size_t size() {
    const std::lock_guard lock(mutex_);
    return objects_.size();
  }
  std::string url() const { return server_.url(); }
  std::shared_ptr<const server::JobBucket> open() {
    const auto variable = [url = server_.url()](const char* name) {
      return std::string(name) == "AWS_ENDPOINT_URL_S3" ? url : "key";
    };
    return std::make_shared<const server::JobBucket>("s3://videos/jobs", variable);
  }

 private:
  void answer(Connection& connection, const ReceivedRequest& request) {
    const std::lock_guard lock(mutex_);
    const auto found = objects_.find(request.path);
    if (request.method == "PUT") objects_[request.path] = request.body;
    if (request.method == "DELETE") objects_.erase(request.path);
    if (request.method == "PUT" || request.method == "DELETE") {
      connection.answer(200);
    } else if (found == objects_.end()) {
      connection.send("HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n");
    } else if (request.method == "HEAD") {
      connection.send("HTTP/1.1 200 OK\r\nContent-Length: " + std::to_string(found->second.size()) +
                      "\r\n\r\n");
    } else {
      connection.answer(200, found->second);
    }
  }

  std::mutex mutex_;
  std::map<std::string, std::string> objects_;
  LoopbackServer server_{[this](Connection& connection, const ReceivedRequest& request) {
    answer(connection, request);
  }};
};

}  // namespace navtalk::tests
