// Buckets for the tests: what is small already goes in parts.
#pragma once

#include "core/artifacts/bucket.h"
#include "tests/core/artifacts/store_fixture.h"

namespace navtalk::test {

// What is larger than `largest_put` goes in parts of 100 bytes.
inline constexpr BucketOptions k_small{.largest_put = 250, .part_bytes = 100};

inline std::function<std::string(const char*)> variables(const std::string& endpoint) {
  return [endpoint](const char* name) -> std::string {
    const std::string_view asked = name;
    if (asked == "AWS_ENDPOINT_URL") return endpoint;
    return asked == "AWS_ACCESS_KEY_ID" || asked == "AWS_SECRET_ACCESS_KEY" ? "key" : "";
  };
}

inline Transfer send_text(const Bucket& bucket, const ScratchFolder& folder,
                          const std::string& text) {
  put(folder / "file", text);
  return bucket.put_file("a/key", folder / "file", sum_of(text), {});
}

}  // namespace navtalk::test
