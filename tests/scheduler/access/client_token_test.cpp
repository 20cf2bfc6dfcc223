#include "scheduler/access/client_token.h"

#include <catch2/catch.hpp>

#include "scheduler/access/api_key.h"

using namespace navtalk;
using namespace std::chrono_literals;

namespace {

const ClientToken k_token{.id = "t1",
                          .key = "0123456789ab",
                          .tenant = {"acme"},
                          .avatar = "ada",
                          .origin = "https://example.org",
                          .max_session = 90s,
                          .expires_at = TimePoint(Duration(1'700'000'000'000'000))};

}  // namespace

TEST_CASE("a browser token says the same after it was signed and verified") {
  const ClientTokenSigner signer("secret");
  const std::string text = signer.sign(k_token);
  CHECK(signer.verify(text) == k_token);
  // It stands in a WebSocket's subprotocol and in a URL.
  CHECK(
      text.find_first_not_of("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_.") ==
      std::string::npos);
}

TEST_CASE("a browser token that was changed in any place is refused") {
  const ClientTokenSigner signer("secret");
  const std::string text = signer.sign(k_token);
  for (std::size_t i = 0; i < text.size(); ++i) {
    std::string changed = text;
    changed[i] = changed[i] == 'A' ? 'B' : 'A';
    INFO(i);
    CHECK_FALSE(signer.verify(changed));
  }
  CHECK_FALSE(signer.verify(text.substr(0, text.size() - 1)));
  CHECK_FALSE(signer.verify(""));
  CHECK_FALSE(signer.verify("."));
  CHECK_FALSE(ClientTokenSigner("other").verify(text));
}

TEST_CASE("keys are random, and other text is not a key") {
  const std::string one = make_key_text(), other = make_key_text();
  CHECK(one != other);
  CHECK(one.size() == 80);  // 3 + 12 + 1 + 64: the last part are 256 bits
  REQUIRE(key_id(one));
  CHECK(one.starts_with("nt_" + *key_id(one) + "_"));
  for (const std::string& none :
       {std::string(), std::string("nt_"), one.substr(1), one + "0", one.substr(0, 79),
        "NT_" + one.substr(3), one.substr(0, 79) + "G", one.substr(0, 15) + "-" + one.substr(16)}) {
    CHECK_FALSE(key_id(none));
  }
}

TEST_CASE("a key's hash is SHA-256 in hexadecimal digits") {
  CHECK(hash_of("abc") == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
}
