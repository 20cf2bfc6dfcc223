// The guards against pages from elsewhere in a browser on this machine. Whoever serves without a key
// or a token serves every program of its machine; such a page is not one. Plain functions.
#pragma once

#include <optional>

#include "server/http/message.h"

namespace navtalk::server {

// Each is the refusal of a request that is not allowed.

// For a server of this machine alone: 403 for another machine's Host or Origin; else as
// refuse_untyped_body().
std::optional<Response> refuse_foreign(const Request& request);
// For a server that no page speaks to: 403 for every Origin.
std::optional<Response> refuse_pages(const Request& request);
// 415 for a body that is not declared as JSON: a page may send forms and plain text anywhere without
// asking, but not JSON. Except for the form that submits a job.
std::optional<Response> refuse_untyped_body(const Request& request);

}  // namespace navtalk::server
