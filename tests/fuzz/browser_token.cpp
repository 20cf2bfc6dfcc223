// A page's browser token: the headers or the URL that offer it, and the token. Nobody else's signature is accepted; a token that is
// signed stays the same, and none of its bytes can change.
#include <cstdint>
#include <string>

#include "core/text/printable.h"
#include "scheduler/access/client_token.h"
#include "server/gateway/access/offered_token.h"
#include "tests/fuzz/expect.h"

namespace {

using namespace navtalk;
using namespace navtalk::server;

void check_offer(const std::string& text, const ClientTokenSigner& signer) {
  Request request{.headers = {{"sec-websocket-protocol", text}}};
  const auto offered = offered_token(request);
  if (offered) {
    expect(offered->protocol == "navtalk.token." + offered->text,
           "the protocol that is answered with is the one that was offered");
    expect(text.find(offered->protocol) != text.npos &&
               offered->protocol.find(',') == std::string::npos,
           "it is one of the list");
    expect(!signer.verify(offered->text), "a token that was not signed here opens nothing");
  }
  Request by_url;
  if (!parse_target("/v1/realtime?" + text, by_url)) return;
  if (const auto in_url = offered_token(by_url))
    expect(in_url->protocol.empty(), "a token in a URL is answered with no protocol");
}

void check_signed(const std::string& text, const ClientTokenSigner& signer) {
  if (!is_utf8(text)) return;  // claims are JSON
  const std::size_t half = text.size() / 2;
  ClientToken token{.id = text.substr(0, 1), .key = text, .tenant = {text}, .avatar = text};
  if (!is_utf8(token.id)) token.id = std::to_string(half);
  token.max_session = Duration(static_cast<std::int64_t>(text.size()));
  token.expires_at = TimePoint(Duration(-static_cast<std::int64_t>(half)));
  const std::string written = signer.sign(token);
  constexpr std::size_t k_longest_token = 4096;
  const auto read = signer.verify(written);
  if (written.size() > k_longest_token) {
    expect(!read, "a token is bounded in length");
    return;
  }
  expect(read == token, "a token that is signed stays the same");
  expect(!ClientTokenSigner("another secret").verify(written), "it is of one pool");
  std::string changed = written;
  const std::size_t at = text.empty() ? 0 : static_cast<unsigned char>(text[0]) % changed.size();
  changed[at] = changed[at] == 'A' ? 'B' : 'A';
  expect(!signer.verify(changed), "a token that was changed opens nothing");
  expect(!signer.verify(written.substr(0, written.size() - 1)), "nor does one that was cut");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  const ClientTokenSigner signer("a secret of this test");
  expect(!signer.verify(text), "what was not signed here opens nothing");
  check_offer(text, signer);
  check_signed(text, signer);
  return 0;
}
