// The parts of a form as RFC 7578 has it: what `curl -F` and a page's FormData send. Pure; the parts are views
// of the body.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace navtalk::server {

struct FormPart {
  std::string name{};
  std::string_view content{};
};

// `type`: the request's Content-Type. Error{usage} for a body that is not such a form, a part without a name,
// and more than 16 parts.
std::vector<FormPart> parse_form(std::string_view type, std::string_view body);

}  // namespace navtalk::server
