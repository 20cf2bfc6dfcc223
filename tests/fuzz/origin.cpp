// The lines of the input are a request's Origin and its Host, and an origin that an operator allows. An origin that is written stays the
// same; without a list only pages of this server and of this machine pass.
#include <algorithm>
#include <cstdint>
#include <string>

#include "core/base/error.h"
#include "server/gateway/access/origins.h"
#include "server/http/same_machine.h"
#include "tests/fuzz/expect.h"

namespace {

using namespace navtalk;
using namespace navtalk::server;

std::string take_line(std::string& text) {
  const std::size_t end = std::min(text.find('\n'), text.size());
  std::string line = text.substr(0, end);
  text.erase(0, end + 1);
  return line;
}

std::string lower_case(std::string text) {
  for (char& c : text) c = static_cast<char>(c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c);
  return text;
}

// Without the port that goes without saying.
std::string bare(std::string name, const std::string& port) {
  if (name.size() > port.size() && name.substr(name.size() - port.size()) == port)
    name.resize(name.size() - port.size());
  if (!name.empty() && name.back() == ':') name.pop_back();
  return name;
}

void check_canonical(const std::string& text) {
  const auto origin = canonical_origin(text);
  if (!origin) return;
  expect(canonical_origin(*origin) == origin, "an origin that is written stays the same");
  expect(origin->rfind("https://", 0) == 0 || origin->rfind("http://", 0) == 0,
         "an origin is one of the web");
  expect(origin->find_first_of(" \t\r\n@?#", 0) == origin->npos &&
             origin->find('/', 8) == origin->npos,
         "an origin is a name and a port");
}

// What a page passes as that the server has no list for.
void check_own(const std::string& origin, const std::string& host) {
  if (is_this_machine(host) && is_page_of_this_machine(origin)) return;
  const std::string lower = lower_case(origin);
  const bool secure = lower.rfind("https://", 0) == 0;
  expect(secure || lower.rfind("http://", 0) == 0, "a page of this server came by http or https");
  const std::string port = secure ? ":443" : ":80";
  expect(bare(lower.substr(secure ? 8 : 7), port) == bare(lower_case(host), port),
         "a page of this server has its name");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  std::string text(reinterpret_cast<const char*>(data), size);
  const std::string origin = take_line(text), host = take_line(text), allowed = take_line(text);
  for (const std::string& one : {origin, allowed}) check_canonical(one);
  const Request request{.headers = {{"origin", origin}, {"host", host}}};
  const Origins none({});
  if (!none.refuse(request)) check_own(origin, host);
  Response answer;
  none.admit(request, answer);
  expect(answer.headers.empty(), "no page is told that it is allowed which nobody allows");
  try {
    const Origins list({allowed});
    list.admit(request, answer);
    const bool listed = allowed == "*" ? canonical_origin(origin).has_value()
                                       : canonical_origin(allowed) == canonical_origin(origin);
    expect(!answer.headers.empty() == listed, "the pages of the list are allowed, no others");
    if (listed) expect(!list.refuse(request), "a page that is allowed is served");
  } catch (const Error& error) {
    expect(error.code() == Code::invalid && allowed != "*" && !canonical_origin(allowed),
           "only what is not an origin is refused");
  }
  return 0;
}
