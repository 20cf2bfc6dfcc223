// Spans as one request of OTLP over HTTP in JSON (OpenTelemetry protocol 1.x, ExportTraceServiceRequest),
// and what a collector answers. Pure.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/trace/span.h"

namespace navtalk {

// Who tells them: attributes of the resource.
struct TraceSource {
  std::string service = "navtalk", version{}, instance{};
};

std::string otlp_request(const TraceSource& source, const std::vector<Span>& spans);

// What a collector did not take of a request that it answered with success.
struct PartialSuccess {
  std::int64_t rejected = 0;  // spans
  std::string message{};
};
PartialSuccess parse_otlp_answer(const std::string& body);

// Whether a request may be sent again after that status.
bool otlp_may_retry(int status);

}  // namespace navtalk
