#include "server/gateway/jobs/job_bucket.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <fstream>
#include <map>
#include <span>
#include <string>

#include "core/base/error.h"
#include "core/base/guarded.h"
#include "core/checkpoint/checkpoint.h"
#include "tests/fakes/loopback_server.h"
#include "tests/server/gateway/jobs/memory_bucket.h"
#include "tests/temporary_directory.h"

using namespace navtalk;
using namespace navtalk::server;
using namespace navtalk::tests;
using namespace std::chrono_literals;
using Found = JobBucket::Found;
namespace fs = std::filesystem;

namespace {

const JobId k_bucket_job{"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"};

std::string sum_of_text(const std::string& text) {
  return sha256(std::as_bytes(std::span(text.data(), text.size())));
}

std::string bytes_of(const fs::path& file) {
  std::ifstream from(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(from), {}};
}

JobBucket bucket_of(const std::string& url) {
  return JobBucket("s3://videos/jobs", [url](const char* name) {
    return std::string(name) == "AWS_ENDPOINT_URL_S3" ? url : "key";
  });
}

using Stored = std::map<std::string, std::string>;  // by key

// As S3 answers those who may not list the bucket; `lengths`: HEAD tells them.
class UnlistedBucket {
 public:
  explicit UnlistedBucket(const Stored& objects, bool lengths = true) : lengths_(lengths) {
    for (const auto& [key, text] : objects) objects_["/videos/jobs/" + key] = text;
  }

  JobBucket open() const { return bucket_of(server_.url()); }

 private:
  void answer(Connection& client, const ReceivedRequest& request) const {
    const auto found = objects_.find(request.path);
    const bool head = request.method == "HEAD";
    if (found == objects_.end()) {
      if (head) client.send("HTTP/1.1 403 Forbidden\r\nContent-Length: 0\r\n\r\n");
      if (!head) client.answer(403, "<Error><Code>AccessDenied</Code></Error>");
      return;
    }
    const std::string& text = found->second;
    const std::string size = std::to_string(text.size());
    if (head && lengths_) {
      client.send("HTTP/1.1 200 OK\r\nContent-Length: " + size + "\r\n\r\n");
    } else if (head) {
      client.send("HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n");
      client.close();
    } else {
      std::string range = request.header("range");  // bytes=FIRST-LAST
      const std::size_t first = std::stoul(range.substr(range.find('=') + 1));
      const std::size_t last = std::stoul(range.substr(range.find('-') + 1));
      client.answer(206, text.substr(first, last + 1 - first),
                    {{"Content-Range", range.replace(0, 6, "bytes ") + "/" + size}});
    }
  }

  const bool lengths_;
  Stored objects_;
  LoopbackServer server_{
      [this](Connection& client, const ReceivedRequest& request) { answer(client, request); }};
};

}  // namespace

TEST_CASE("what a bucket that may not be listed lacks is missing, and no reason to wait for it") {
  const TemporaryDirectory folder;
  const std::string result = JobBucket::result_key(k_bucket_job, 1, "mp4");
  const UnlistedBucket server(Stored{{result, "video"}});
  const JobBucket bucket = server.open();
  std::uint64_t bytes = 0;
  CHECK(bucket.size(JobBucket::result_key(k_bucket_job, 2, "mp4"), bytes) == Found::missing);
  CHECK(bucket.fetch(JobBucket::segment_key(k_bucket_job, 0), folder / "segment") ==
        Found::missing);
  CHECK_FALSE(fs::exists(folder / "segment"));
  CHECK(bucket.size(result, bytes) == Found::there);
  CHECK(bytes == 5);
}

TEST_CASE("speech comes whole also where the bucket does not tell its size at once") {
  const TemporaryDirectory folder;
  const std::string audio = sum_of_text("speech"), key = JobBucket::upload_key(audio);
  const UnlistedBucket server(Stored{{key, "speech"}}, false);
  CHECK(server.open().fetch(key, folder / audio) == Found::there);
  CHECK(bytes_of(folder / audio) == "speech");
}

TEST_CASE("speech that is empty or has another SHA-256 than its name is not put in place") {
  const TemporaryDirectory folder;
  const std::string audio = sum_of_text("speech"), key = JobBucket::upload_key(audio);
  for (const std::string text : {"", "speecg", "speech and more"}) {
    const UnlistedBucket server(Stored{{key, text}});
    const JobBucket bucket = server.open();
    CHECK(bucket.fetch(key, folder / audio) == Found::missing);
    CHECK(fs::is_empty(folder.path()));
  }
}

TEST_CASE("a file is not read while the bucket rests") {
  const TemporaryDirectory folder;
  std::ofstream(folder / "speech") << "speech";
  const JobBucket bucket = bucket_of("http://127.0.0.1:1");  // nobody's port
  // A bucket rests for seconds: where this machine stands still for so long, it is asked again.
  const auto deadline = std::chrono::steady_clock::now() + 60s;
  bool read = true;
  while (read && std::chrono::steady_clock::now() < deadline) {
    CHECK_FALSE(bucket.put("a/0", folder / "speech"));
    try {
      read = bucket.put("a/0", folder / "none");
    } catch (const Error&) {  // it was opened
    }
  }
  CHECK_FALSE(read);
}

TEST_CASE("damaged speech is not put over that of the bucket") {
  const TemporaryDirectory folder;
  MemoryBucket memory;
  const auto bucket = memory.open();
  const std::string audio = sum_of_text("speech"), key = JobBucket::upload_key(audio);
  std::ofstream(folder / "speech") << "speech";
  std::ofstream(folder / "damaged") << "speecg";
  CHECK(bucket->put(key, folder / "speech"));
  CHECK_FALSE(bucket->put(key, folder / "damaged"));
  CHECK(bucket->fetch(key, folder / "back") == Found::there);
  CHECK(bytes_of(folder / "back") == "speech");
}
