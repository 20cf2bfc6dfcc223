#include "scheduler/simulator/trace/trace.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <optional>

#include "core/base/error.h"
#include "core/text/csv_record.h"
#include "core/text/number.h"

namespace navtalk {
namespace {

constexpr double k_longest_s = 1e10;  // Unix time fits; anything above is not a time in seconds
constexpr Duration k_day = std::chrono::hours(24);
constexpr Duration k_longest_session = 31 * k_day;
constexpr Duration k_longest_span = 400 * k_day;   // as of a made trace
constexpr std::size_t k_longest_record = 1 << 20;  // bytes; more is a quote that was forgotten

class Reader {
 public:
  explicit Reader(const std::filesystem::path& file) : file_(file), stream_(file) {
    if (std::filesystem::is_directory(file)) {
      throw Error(Code::invalid, file.native() + " is a directory; name a CSV file in it");
    }
    if (!stream_) {
      throw Error(Code::not_found,
                  fmt::format("{}: cannot be read; name a CSV file with the heading "
                              "arrival_s,duration_s",
                              file.native()));
    }
  }

  Trace read() {
    if (!next()) refuse("is empty; the heading arrival_s,duration_s is missing");
    const std::vector<std::string> heading = record_.fields();
    const std::size_t arrival = column(heading, "arrival_s");
    const std::size_t duration = column(heading, "duration_s");
    Trace trace;
    while (next()) {
      const std::vector<std::string>& row = record_.fields();
      if (row.size() == 1 && row[0].empty()) continue;  // an empty line
      if (row.size() != heading.size()) {
        refuse(fmt::format("has {} columns, the heading has {}", row.size(), heading.size()));
      }
      const TracedSession session{from_seconds(seconds(row[arrival], "arrival_s")),
                                  from_seconds(seconds(row[duration], "duration_s"))};
      if (!trace.empty() && session.arrival < trace.back().arrival) {
        refuse("comes before the line above it; sort the file by arrival_s");
      }
      trace.push_back(session);
      check_span(trace);
    }
    if (stream_.bad()) throw Error(Code::failed, file_.native() + ": reading failed");
    if (trace.empty()) refuse("is the end of the file, and there is no session in it");
    return trace;
  }

 private:
  // The next record; number_ is its first line.
  bool next() {
    using Reading = CsvRecord::Reading;
    record_.clear();
    number_ = lines_ + 1;
    if (!next_line()) return false;
    Reading reading = record_.add(line_);
    for (std::size_t size = 0; reading == Reading::goes_on; reading = record_.add(line_)) {
      size += line_.size() + 1;
      if (size > k_longest_record || !next_line()) refuse("has a quote that is not closed");
    }
    if (reading == Reading::stray) refuse("has text behind a closing quote");
    return true;
  }

  bool next_line() {
    if (!std::getline(stream_, line_)) return false;
    ++lines_;
    if (!line_.empty() && line_.back() == '\r') line_.pop_back();
    if (lines_ == 1 && line_.starts_with("\xEF\xBB\xBF")) line_.erase(0, 3);
    return true;
  }

  // What is simulated second by second has to end.
  void check_span(const Trace& trace) const {
    const TracedSession& last = trace.back();
    if (last.duration > k_longest_session) {
      refuse(fmt::format("has duration_s = {:.0f}, which is more than {} days; are these seconds?",
                         in_seconds(last.duration), k_longest_session / k_day));
    }
    if (last.arrival - trace.front().arrival > k_longest_span) {
      refuse(
          fmt::format("comes more than {} days after the first session; are these seconds? Else "
                      "cut the trace into parts",
                      k_longest_span / k_day));
    }
  }

  std::size_t column(const std::vector<std::string>& heading, std::string_view name) const {
    const auto found = std::find(heading.begin(), heading.end(), name);
    if (found == heading.end()) refuse(fmt::format("has no column {} in the heading", name));
    return static_cast<std::size_t>(found - heading.begin());
  }

  double seconds(std::string_view text, std::string_view name) const {
    const auto value = parse_number<double>(text);
    if (!value || *value < 0 || *value > k_longest_s) {
      refuse(fmt::format("has {} = \"{}\", which is not a number of seconds from 0", name,
                         text.substr(0, 40)));
    }
    return *value;
  }

  [[noreturn]] void refuse(const std::string& what) const {
    throw Error(Code::invalid, fmt::format("{}: line {} {}", file_.native(), number_, what));
  }

  const std::filesystem::path& file_;
  std::ifstream stream_;
  std::string line_{};
  CsvRecord record_{};
  int lines_ = 0, number_ = 0;
};

// Variance over mean of the arrivals per window, whole windows only.
double dispersion(const Trace& trace, Duration window) {
  const Duration first = trace.front().arrival;
  const auto windows = (trace.back().arrival - first) / window;
  if (windows < 2) return 0;
  std::vector<double> counts(static_cast<std::size_t>(windows));
  for (const TracedSession& session : trace) {
    const auto i = (session.arrival - first) / window;
    if (i < windows) ++counts[static_cast<std::size_t>(i)];
  }
  double sum = 0, squares = 0;
  for (const double count : counts) {
    sum += count;
    squares += count * count;
  }
  const auto n = static_cast<double>(windows);
  return sum > 0 ? (squares / n - sum / n * sum / n) / (sum / n) : 0;
}

}  // namespace

Trace read_trace(const std::filesystem::path& file) {
  Trace trace = Reader(file).read();
  const Duration first = trace.front().arrival;
  if (first > std::chrono::hours(24)) {
    for (TracedSession& session : trace) session.arrival -= first;
  }
  return trace;
}

std::string as_csv(const Trace& trace) {
  std::string text = "arrival_s,duration_s\n";
  for (const TracedSession& session : trace) {
    text +=
        fmt::format("{:.3f},{:.3f}\n", in_seconds(session.arrival), in_seconds(session.duration));
  }
  return text;
}

TraceFacts facts(const Trace& trace) {
  TraceFacts facts{.sessions = trace.size()};
  if (trace.empty()) return facts;
  double seconds = 0;
  for (const TracedSession& session : trace) seconds += in_seconds(session.duration);
  facts.span_h = in_seconds(trace.back().arrival - trace.front().arrival) / 3600;
  facts.mean_s = seconds / static_cast<double>(trace.size());
  facts.busy_gpu_h = seconds / 3600;
  facts.burst_1min = dispersion(trace, std::chrono::minutes(1));
  facts.burst_10min = dispersion(trace, std::chrono::minutes(10));
  return facts;
}

}  // namespace navtalk
