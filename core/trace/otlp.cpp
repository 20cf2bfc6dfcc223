#include "core/trace/otlp.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "core/base/id.h"
#include "core/text/lenient_json.h"
#include "core/text/number.h"
#include "core/text/printable.h"

namespace navtalk {
namespace {

using nlohmann::json;

constexpr std::size_t k_span_digits = 16;
constexpr int k_error = 2;  // STATUS_CODE_ERROR

// Numbers of 64 bits are strings in the JSON of protocol buffers.
std::string nanoseconds(std::chrono::system_clock::time_point time) {
  const auto since = time.time_since_epoch();
  return std::to_string(std::chrono::duration_cast<std::chrono::nanoseconds>(since).count());
}

json as_json(const SpanValue& value) {
  if (const auto* text = std::get_if<std::string>(&value)) return {{"stringValue", *text}};
  if (const auto* number = std::get_if<std::int64_t>(&value))
    return {{"intValue", std::to_string(*number)}};
  if (const auto* real = std::get_if<double>(&value)) return {{"doubleValue", *real}};
  return {{"boolValue", std::get<bool>(value)}};
}

json attribute(const std::string& key, const SpanValue& value) {
  return {{"key", key}, {"value", as_json(value)}};
}

json as_json(const Span& span) {
  json object = {{"traceId", span.trace},
                 {"spanId", span.id},
                 {"name", span.name},
                 {"kind", static_cast<int>(span.kind)},
                 {"startTimeUnixNano", nanoseconds(span.begin)},
                 {"endTimeUnixNano", nanoseconds(std::max(span.begin, span.end))}};
  if (!span.parent.empty()) object["parentSpanId"] = span.parent;
  for (const auto& [key, value] : span.attributes)
    object["attributes"].push_back(attribute(key, value));
  if (!span.error.empty()) object["status"] = {{"code", k_error}, {"message", span.error}};
  return object;
}

}  // namespace

std::string new_trace_id() { return random_id(); }

std::string new_span_id() { return random_id().substr(0, k_span_digits); }

std::string otlp_request(const TraceSource& source, const std::vector<Span>& spans) {
  json resource = json::array({attribute("service.name", source.service)});
  if (!source.version.empty()) resource.push_back(attribute("service.version", source.version));
  if (!source.instance.empty())
    resource.push_back(attribute("service.instance.id", source.instance));
  json told = json::array();
  for (const Span& span : spans) told.push_back(as_json(span));
  const json scope = {{"scope", {{"name", "navtalk"}}}, {"spans", told}};
  const json request = {{"resourceSpans", json::array({{{"resource", {{"attributes", resource}}},
                                                        {"scopeSpans", json::array({scope})}}})}};
  return request.dump(-1, ' ', false, json::error_handler_t::replace);
}

PartialSuccess parse_otlp_answer(const std::string& body) {
  const auto answer = parse_json(body);
  if (!answer) return {};
  const json& partial = object_field(*answer, "partialSuccess");
  PartialSuccess result{.message = printable(text_field(partial, "errorMessage").value_or(""))};
  // A number, or a string, as the JSON of protocol buffers has it.
  const std::string text = text_field(partial, "rejectedSpans").value_or("");
  result.rejected = text.empty() ? whole_field(partial, "rejectedSpans").value_or(0)
                                 : parse_number<std::int64_t>(text).value_or(0);
  return result;
}

bool otlp_may_retry(int status) {
  return status == 429 || status == 502 || status == 503 || status == 504;
}

}  // namespace navtalk
