#include "scheduler/health/worker_tokens.h"

#include <catch2/catch.hpp>
#include <set>

#include "scheduler/pool/identity.h"
#include "tests/core/expect_error.h"

using namespace navtalk;

namespace {

const WorkerTokens k_tokens("sesame");

}  // namespace

TEST_CASE("a worker's token is the HMAC-SHA256 of its name or of its URL under the pool's secret") {
  CHECK(k_tokens.of_worker("navtalk-default-0123abcd-ff") ==
        "843041474959d9ff0392c962fa935636ee97e84077e5c2ba37012c8349f87c1c");
  CHECK(k_tokens.of_url("https://gpu.example:443/a") ==
        "8a44fe0f8db5272ffaff9b79f680ed5efd50d6efc58d1a01406169ba717a65ab");
}

TEST_CASE("one URL has one token however it is written, and two URLs have two") {
  const std::string token = k_tokens.of_url("https://gpu.example:443");
  for (const char* const same :
       {"https://gpu.example", "https://GPU.Example/", "HTTPS://gpu.example:443//"}) {
    INFO(same);
    CHECK(k_tokens.of_url(same) == token);
  }
  std::set<std::string> tokens = {token};
  for (const char* const other : {"http://gpu.example:443", "https://gpu.example:444",
                                  "https://gpu.example/a", "https://gpu2.example"}) {
    INFO(other);
    CHECK(tokens.insert(k_tokens.of_url(other)).second);
  }
  CHECK_THROWS_AS(k_tokens.of_url("gpu.example"), Error);
}

TEST_CASE("a row's token is that of its worker's name, and of its URL only when it is registered") {
  const Source source = GENERATE(Source::local, Source::external, Source::cloud);
  const PoolIdentity identity{.prefix = "navtalk", .pool = "test", .id = "0123abcd"};
  Gpu gpu = new_gpu(identity, source);
  gpu.url = "http://127.0.0.1:9000";
  const std::string token = k_tokens.of(gpu);
  const bool registered = source == Source::external;
  CHECK(token == (registered ? k_tokens.of_url(gpu.url) : k_tokens.of_worker(gpu.name)));
  Gpu other = new_gpu(identity, source);
  other.url = registered ? "http://127.0.0.1:9001" : gpu.url;
  CHECK(k_tokens.of(other) != token);
  CHECK(WorkerTokens("another secret").of(gpu) != token);
}

TEST_CASE("the duplicate of an instance has its token, since its worker was started with it") {
  const PoolIdentity identity{.prefix = "navtalk", .pool = "test", .id = "0123abcd"};
  Gpu gpu = new_gpu(identity, Source::cloud), duplicate = new_gpu(identity, Source::cloud);
  gpu.url = duplicate.url = "https://pod-2160.proxy.example";
  duplicate.name = duplicate_name(gpu.name, "pod-2");
  CHECK(duplicate.name != gpu.name);
  CHECK(k_tokens.of(duplicate) == k_tokens.of(gpu));
}

TEST_CASE("without a secret there are no tokens") {
  CHECK(WorkerTokens().of_worker("a").empty());
  CHECK(WorkerTokens().of_url("http://127.0.0.1:9000").empty());
}

TEST_CASE("no token is for a request over http beyond loopback, unless that is allowed") {
  const PoolIdentity identity{.prefix = "navtalk", .pool = "test", .id = "0123abcd"};
  Gpu gpu = new_gpu(identity, Source::external);
  const WorkerTokens anywhere("sesame", true);
  for (const char* const url : {"http://10.0.0.7:2160", "http://gpu.example", "http://[fe80::1]",
                                "http://127.evil.example", "http://localhost.example"}) {
    INFO(url);
    gpu.url = url;
    const Lease lease{.url = url, .origin = origin_of(gpu)};
    test::expect_error(Code::invalid, {"pool.allow_http_workers"}, [&] { k_tokens.of(gpu); });
    test::expect_error(Code::invalid, {"pool.allow_http_workers"}, [&] { k_tokens.of(lease); });
    CHECK(anywhere.of(gpu) == k_tokens.of_url(url));
    CHECK(anywhere.of(lease) == k_tokens.of_url(url));
  }
  for (const char* const url : {"https://gpu.example", "http://127.0.0.1:9000", "http://127.9.9.9",
                                "http://localhost", "http://LocalHost:80", "http://[::1]:9000"}) {
    INFO(url);
    gpu.url = url;
    CHECK(k_tokens.of(gpu) == k_tokens.of_url(url));
  }
}
