#include <sys/stat.h>

#include <catch2/catch.hpp>
#include <filesystem>

#include "core/artifacts/http_source.h"
#include "core/artifacts/retry.h"
#include "core/artifacts/s3.h"
#include "core/artifacts/source.h"
#include "tests/core/expect_error.h"
#include "tests/temporary_directory.h"

using namespace navtalk;
using namespace std::chrono_literals;
using test::error_of;
using test::expect_error;
using tests::TemporaryDirectory;

namespace {

using Variables = std::map<std::string, std::string>;

S3Location located(const std::string& source, const Variables& variables = {}) {
  return s3_location(source, [&](const char* name) {
    const auto found = variables.find(name);
    return found == variables.end() ? "" : found->second;
  });
}

const SourceOptions k_plain{.variable = [](const char*) { return std::string(); }};

}  // namespace

TEST_CASE("an s3 source is where Amazon or the named service has the bucket") {
  CHECK(located("s3://models").url == "https://models.s3.us-east-1.amazonaws.com");
  CHECK(located("s3://models/a/b/", {{"AWS_REGION", "eu-west-1"}}).url ==
        "https://models.s3.eu-west-1.amazonaws.com/a/b");
  CHECK(located("s3://models.of.us/a", {{"AWS_DEFAULT_REGION", "eu-west-1"}}).url ==
        "https://s3.eu-west-1.amazonaws.com/models.of.us/a");
  CHECK(located("s3://models/a", {{"AWS_ENDPOINT_URL", "http://127.0.0.1:9000/"}}).url ==
        "http://127.0.0.1:9000/models/a");
  CHECK(located("s3://models", {{"AWS_ENDPOINT_URL", "http://127.0.0.1:1"},
                                {"AWS_ENDPOINT_URL_S3", "https://s3.example.com"}})
            .url == "https://s3.example.com/models");
}

TEST_CASE("an s3 source signs with both keys, and asks as nobody without them") {
  CHECK_FALSE(located("s3://models").identity);
  const Variables both{{"AWS_ACCESS_KEY_ID", "AK"},
                       {"AWS_SECRET_ACCESS_KEY", " hidden\n"},
                       {"AWS_SESSION_TOKEN", "ST"},
                       {"AWS_REGION", "eu-west-1"}};
  const auto identity = located("s3://models", both).identity.value();
  CHECK(identity.access_key == "AK");
  CHECK(identity.secret_key == "hidden");
  CHECK(identity.session_token == "ST");
  CHECK(identity.region == "eu-west-1");
  expect_error(Code::invalid, {"belong together"}, [] {
    located("s3://models", {{"AWS_ACCESS_KEY_ID", "AK"}});
  });
  const Error torn = error_of([] {
    located("s3://models", {{"AWS_ACCESS_KEY_ID", "AK"}, {"AWS_SECRET_ACCESS_KEY", "hid\r\nden"}});
  });
  CHECK_THAT(torn.message(), Catch::Contains("AWS_SECRET_ACCESS_KEY"));
  CHECK_THAT(torn.message(), !Catch::Contains("hid"));
}

TEST_CASE("a source that is not a folder, a bucket or https is refused") {
  const auto refused = [](const std::string& source, const std::string& why) {
    expect_error(Code::invalid, {why}, [&] { open_source(source, k_plain); });
  };
  refused("http://models.example.com/a", "must be https");
  refused("https://user:hidden@models.example.com/a", "user or password");
  refused("https://models.example.com/a?b=c", "query");
  refused("ftp://models.example.com/a", "s3://BUCKET/PREFIX, https://HOST/PATH or a folder");
  refused("s3://Models", "'Models' is not the name of a bucket");
  refused("s3://", "not the name of a bucket");
  refused("s3://models/a b", "the prefix 'a b'");
  refused("s3://models/../other", "the prefix");
  refused("", "cannot be empty");
  CHECK(open_source("http://127.0.0.1:1/a/", k_plain)->name() == "http://127.0.0.1:1/a");
  CHECK(open_source("https://models.example.com/a", k_plain)->name() ==
        "https://models.example.com/a");
  expect_error(Code::invalid, {"must be https"}, [] {
    open_source("s3://models", {.variable = [](const char* name) {
                  return std::string_view(name) == "AWS_ENDPOINT_URL" ? "http://10.0.0.1" : "";
                }});
  });
}

TEST_CASE("what is not a regular file of a folder is refused, and not waited for") {
  const TemporaryDirectory folder;
  REQUIRE(::mkfifo((folder / "pipe").c_str(), 0600) == 0);
  std::filesystem::create_directory(folder / "folder");
  const auto source = open_source(folder.path().native(), k_plain);
  for (const char* key : {"pipe", "folder"}) {
    std::string text;
    const Transfer read = source->read(key, 100, text, {});
    CHECK(read.outcome == Transfer::Outcome::refused);
    CHECK_THAT(read.why, Catch::EndsWith("is not a regular file"));
  }
  std::string text;
  CHECK(source->read("nothing", 100, text, {}).outcome == Transfer::Outcome::missing);
}

TEST_CASE("what a server's status says of a download") {
  using enum Transfer::Outcome;
  const auto judged = [](int status, const char* after = "") {
    HttpAnswer answer{.status = status};
    if (*after != '\0') answer.headers.emplace("retry-after", after);
    return judge_status(answer);
  };
  for (const int status : {200, 206}) CHECK(judged(status).outcome == done);
  for (const int status : {404, 410}) CHECK(judged(status).outcome == missing);
  for (const int status : {408, 416, 429, 500, 502, 503, 504})
    CHECK(judged(status).outcome == again);
  for (const int status : {400, 401, 403, 405, 418}) CHECK(judged(status).outcome == refused);
  CHECK(judged(503, "7").retry_after == 7s);
  CHECK_FALSE(judged(503, "-7").retry_after);
  CHECK(judged(503, "Mon, 23 Nov 2020 16:00:00 GMT").retry_after == 0s);
  CHECK_FALSE(judged(503, "soon").retry_after);
}

TEST_CASE("a Content-Range is read, or is none") {
  CHECK(parse_content_range("bytes 5-9/10")->first == 5);
  CHECK(parse_content_range("bytes 5-9/10")->whole == 10);
  for (const char* text : {"", "bytes */10", "bytes 5-9/*", "bytes 5-9", "items 5-9/10",
                           "bytes a-9/10", "bytes 5/10", "bytes -5-9/10"}) {
    INFO(text);
    CHECK_FALSE(parse_content_range(text));
  }
}

TEST_CASE("tries of a download are further and further apart, up to a bound") {
  CHECK(retry_delay(1, 0) == 250ms);
  CHECK(retry_delay(2, 0) == 500ms);
  CHECK(retry_delay(6, 0) == 8s);
  CHECK(retry_delay(1000, 0) == 8s);
  CHECK(retry_delay(1, 1) == 125ms);
  CHECK(retry_delay(1, 0, 7s) == 7s);
  CHECK(retry_delay(6, 0, 7s) == 8s);
  CHECK(retry_delay(1, 0, 3600s) == 30s);
}
