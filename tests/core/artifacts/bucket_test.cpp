#include "core/artifacts/bucket.h"

#include <catch2/catch.hpp>

#include "core/base/guarded.h"
#include "tests/core/artifacts/bucket_fixture.h"
#include "tests/core/expect_error.h"

using namespace navtalk;
using namespace navtalk::test;
using tests::Connection;
using tests::LoopbackServer;
using tests::ReceivedRequest;
using Outcome = Transfer::Outcome;

namespace {

struct Sent {
  std::string method, target, type, body;
};

// Answers uploads in parts as S3 does; `fault` may answer in its own way.
class PartsServer {
 public:
  using Fault = std::function<bool(Connection&, const ReceivedRequest&)>;
  explicit PartsServer(Fault fault = {})
      : server_([this, fault](Connection& client, const ReceivedRequest& request) {
          sent_.with([&](auto& all) {
            all.push_back(
                {request.method, request.target, request.header("content-type"), request.body});
          });
          if (!fault || !fault(client, request)) answer(client, request);
        }) {}

  std::string url() const { return server_.url(); }
  std::vector<Sent> sent() const {
    return sent_.with([](const auto& all) { return all; });
  }

 private:
  static bool answer(Connection& client, const ReceivedRequest& request) {
    if (request.target.ends_with("?uploads="))
      return client.answer(200, "<R><UploadId>a.b-_c+d</UploadId></R>");
    if (request.method == "POST")
      return client.answer(200, "<CompleteMultipartUploadResult><ETag>x</ETag></R>");
    return client.answer(request.method == "DELETE" ? 204 : 200, "",
                         {{"ETag", "\"" + std::to_string(request.body.size()) + "\""}});
  }

  Guarded<std::vector<Sent>> sent_;
  LoopbackServer server_;  // last: its threads use the rest
};

}  // namespace

TEST_CASE("a file that is too large for one request goes in parts, and appears at the end") {
  const ScratchFolder folder;
  const PartsServer server;
  const Bucket bucket("s3://videos/jobs", variables(server.url()), k_small);
  const std::string text = long_text(251);
  CHECK(send_text(bucket, folder, text).outcome == Outcome::done);
  const std::vector<Sent> sent = server.sent();
  REQUIRE(sent.size() == 5);
  CHECK(sent[0].method + sent[0].target == "POST/videos/jobs/a/key?uploads=");
  // A form, which curl would say, is what services take apart.
  for (const Sent& one : sent) CHECK(one.type == "application/octet-stream");
  std::string joined;
  for (std::size_t i = 1; i < 4; ++i) {
    CHECK(sent[i].method + sent[i].target ==
          "PUT/videos/jobs/a/key?partNumber=" + std::to_string(i) + "&uploadId=a.b-_c%2Bd");
    joined += sent[i].body;
  }
  CHECK(joined == text);
  CHECK(sent[4].target == "/videos/jobs/a/key?uploadId=a.b-_c%2Bd");
  CHECK(sent[4].body ==
        "<CompleteMultipartUpload><Part><PartNumber>1</PartNumber><ETag>\"100\"</ETag></Part>"
        "<Part><PartNumber>2</PartNumber><ETag>\"100\"</ETag></Part>"
        "<Part><PartNumber>3</PartNumber><ETag>\"51\"</ETag></Part></CompleteMultipartUpload>");
}

TEST_CASE("a smaller file goes at once") {
  const ScratchFolder folder;
  const PartsServer server;
  CHECK(send_text(Bucket("s3://videos", variables(server.url()), k_small), folder, long_text(250))
            .outcome == Outcome::done);
  REQUIRE(server.sent().size() == 1);
  CHECK(server.sent()[0].method + server.sent()[0].target == "PUT/videos/a/key");
}

TEST_CASE("a part that fails once is sent again; one that fails for good takes all parts away") {
  const ScratchFolder folder;
  int failures = 0;
  const PartsServer server([&](Connection& client, const ReceivedRequest& request) {
    if (request.query.count("partNumber") == 0 || request.query.at("partNumber") != "2")
      return false;
    if (failures == 0) return false;
    --failures;
    client.answer(failures >= 10 ? 403 : 500);
    return true;
  });
  const Bucket bucket("s3://videos", variables(server.url()), k_small);
  failures = 1;
  CHECK(send_text(bucket, folder, long_text(251)).outcome == Outcome::done);
  CHECK(server.sent().size() == 6);
  failures = 12;
  CHECK(send_text(bucket, folder, long_text(251)).outcome == Outcome::refused);
  CHECK(server.sent().back().method + server.sent().back().target ==
        "DELETE/videos/a/key?uploadId=a.b-_c%2Bd");
}

TEST_CASE("an upload in parts that is stopped leaves none in the bucket") {
  const ScratchFolder folder;
  std::stop_source stop;
  const PartsServer server([&](Connection& client, const ReceivedRequest& request) {
    if (request.query.count("partNumber") == 0) return false;
    stop.request_stop();
    client.hold();
    return true;
  });
  const Bucket bucket("s3://videos", variables(server.url()), k_small);
  put(folder / "file", long_text(251));
  CHECK_THROWS_AS(bucket.put_file("a/key", folder / "file", "", stop.get_token()), Error);
  CHECK(server.sent().back().method + server.sent().back().target ==
        "DELETE/videos/a/key?uploadId=a.b-_c%2Bd");
}

TEST_CASE("what goes wrong with an upload in parts names the bucket and the object") {
  const ScratchFolder folder;
  std::string stage = "?uploads=";
  const PartsServer server([&](Connection& client, const ReceivedRequest& request) {
    if (request.target.find(stage) == std::string::npos) return false;
    if (stage == "?uploads=") return client.answer(200, "no identifier");
    client.close();
    return true;
  });
  const Bucket bucket("s3://videos/jobs", variables(server.url()), k_small);
  for (const char* one : {"?uploads=", "partNumber"}) {
    stage = one;
    const Transfer failed = send_text(bucket, folder, long_text(251));
    CHECK(failed.outcome != Outcome::done);
    CHECK_THAT(failed.why, Catch::StartsWith("s3://videos/jobs/a/key: "));
  }
}

TEST_CASE("parts that the bucket does not put together are no object, whatever the status says") {
  const ScratchFolder folder;
  const PartsServer server([&](Connection& client, const ReceivedRequest& request) {
    if (request.method != "POST" || request.target.ends_with("?uploads=")) return false;
    client.answer(200, "<Error><Code>InternalError</Code></Error>");
    return true;
  });
  CHECK(send_text(Bucket("s3://videos", variables(server.url()), k_small), folder, long_text(251))
            .outcome == Outcome::again);
  CHECK(server.sent().back().method == "DELETE");
}

TEST_CASE("what a bucket refuses to tell is not there, unless it refuses the keys") {
  std::string code;
  const LoopbackServer server([&](Connection& client, const ReceivedRequest& request) {
    const std::string body = "<Error><Code>" + code + "</Code></Error>";
    if (request.method == "HEAD")
      client.send("HTTP/1.1 403 Forbidden\r\nContent-Length: 0\r\n\r\n");
    else
      client.answer(403, code.empty() ? "" : body);
  });
  const Bucket bucket("s3://videos", variables(server.url()), k_small);
  std::uint64_t bytes = 0;
  for (const char* missing : {"", "AccessDenied"}) {
    code = missing;
    CHECK(bucket.size("a/key", bytes, {}).outcome == Outcome::missing);
  }
  code = "SignatureDoesNotMatch";
  const Transfer refused = bucket.size("a/key", bytes, {});
  CHECK(refused.outcome == Outcome::refused);
  CHECK_THAT(refused.why, Catch::Contains("s3://videos/a/key") && Catch::Contains("403") &&
                              Catch::Contains("SignatureDoesNotMatch"));
}

TEST_CASE("the size of an object comes from its first byte where HEAD does not tell it") {
  std::string head, range;
  const LoopbackServer server([&](Connection& client, const ReceivedRequest& request) {
    if (request.method == "HEAD") {
      client.send("HTTP/1.1 " + head + "\r\nConnection: close\r\n\r\n");
      client.close();
    } else if (range.empty()) {
      client.answer(200, "whole");
    } else {
      client.answer(206, "w", {{"Content-Range", range}});
    }
  });
  const Bucket bucket("s3://videos", variables(server.url()), k_small);
  std::uint64_t bytes = 0;
  for (const char* answer : {"200 OK", "403 Forbidden"}) {
    head = answer;
    bytes = 0;
    range = "bytes 0-0/1234";
    CHECK(bucket.size("a/key", bytes, {}).outcome == Outcome::done);
    CHECK(bytes == 1234);
    range = "";
    const Transfer unknown = bucket.size("a/key", bytes, {});
    CHECK(unknown.outcome == Outcome::refused);
    CHECK_THAT(unknown.why, Catch::Contains("s3://videos/a/key"));
  }
}

TEST_CASE("a bucket that is written to has keys, and is https beyond this machine") {
  const auto no_keys = [](const char*) { return std::string(); };
  expect_error(Code::invalid, {"AWS_ACCESS_KEY_ID"}, [&] { Bucket("s3://videos", no_keys); });
  expect_error(Code::invalid, {"not s3://"}, [&] { Bucket("/srv/videos", no_keys); });
  expect_error(Code::invalid, {"must be https"},
               [&] { Bucket("s3://videos", variables("http://10.0.0.1:9000")); });
}
