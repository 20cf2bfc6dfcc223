// One part of the way of a session or a job, as OpenTelemetry tells it: a name, a beginning, an end. Spans
// with one trace id belong together; `parent` says which one is within which.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace navtalk {

using SpanValue = std::variant<std::string, std::int64_t, double, bool>;

struct Span {
  enum class Kind : std::uint8_t { internal = 1, server = 2, client = 3 };  // as OTLP numbers them

  std::string trace{};   // 32 lower-case hexadecimal digits
  std::string id{};      // 16 of them
  std::string parent{};  // the same; empty: the first one of its trace
  std::string name{};
  Kind kind = Kind::internal;
  std::chrono::system_clock::time_point begin{}, end{};
  std::vector<std::pair<std::string, SpanValue>> attributes{};
  std::string error{};  // not empty: it failed, and why
};

// Of the system's random source, as random_id().
std::string new_trace_id();
std::string new_span_id();

}  // namespace navtalk
