// Links to results, and the words in which texts are compared with blocked ones.
#include "server/gateway/jobs/job_link.h"

#include <catch2/catch.hpp>

using namespace navtalk;
using namespace navtalk::server;

namespace {

const JobId k_job{"9f86d081"}, k_other_job{"9f86d082"};

Request request_of(const std::string& link) {
  Request request;
  REQUIRE(parse_target(link, request));
  return request;
}

}  // namespace

TEST_CASE("a link is valid for its job until it expires") {
  const Request request = request_of(result_link("secret", k_job, 1000));
  CHECK(request.path == "/v1/jobs/9f86d081/result");
  CHECK(check_link("secret", request, k_job, 999) == LinkCheck::valid);
  CHECK(check_link("secret", request, k_job, 1000) == LinkCheck::expired);
  CHECK(check_link("secret", request, k_other_job, 999) == LinkCheck::forged);
  CHECK(check_link("other", request, k_job, 999) == LinkCheck::forged);
}

TEST_CASE("a link that was changed, or that no secret has signed, is forged") {
  const std::string link = result_link("secret", k_job, 1000);
  std::string later = link, shorter = link.substr(0, link.size() - 1);
  later.replace(later.find("expires=1000"), 12, "expires=9000");
  CHECK(check_link("secret", request_of(later), k_job, 0) == LinkCheck::forged);
  CHECK(check_link("secret", request_of(shorter), k_job, 0) == LinkCheck::forged);
  CHECK(check_link("secret", request_of("/x?signature=a"), k_job, 0) == LinkCheck::forged);
  CHECK(check_link("secret", request_of("/x?signature=a&expires=b"), k_job, 0) ==
        LinkCheck::forged);
  CHECK(check_link("secret", request_of("/x?expires=1"), k_job, 0) == LinkCheck::none);
  CHECK(result_link("", k_job, 1000).empty());
  CHECK(check_link("", request_of(result_link("", k_job, 1) + "/?signature=&expires=1"), k_job,
                   0) == LinkCheck::forged);
}
