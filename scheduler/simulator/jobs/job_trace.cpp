#include "scheduler/simulator/jobs/job_trace.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <map>

#include "core/base/error.h"
#include "core/text/csv_record.h"
#include "core/text/number.h"
#include "core/text/printable.h"
#include "scheduler/jobs/shares/tenant_terms.h"
#include "scheduler/pool/tenant_name.h"
#include "scheduler/simulator/random.h"

namespace navtalk {
namespace {

constexpr double k_longest_trace_s = 400 * 24 * 3600.0;
constexpr double k_longest_job_min = 24 * 60;

class JobTraceReader {
 public:
  explicit JobTraceReader(const std::filesystem::path& file) : file_(file), stream_(file) {
    if (std::filesystem::is_directory(file)) {
      throw Error(Code::invalid, file.native() + " is a directory; name a CSV file in it");
    }
    if (!stream_) {
      throw Error(Code::not_found, file.native() +
                                       ": cannot be read; name a CSV file with the heading "
                                       "submitted_s,tenant,video_minutes");
    }
  }

  JobTrace read() {
    if (!next()) refuse("is empty; the heading submitted_s,tenant,video_minutes is missing");
    heading_ = record_.fields();
    for (const char* const name : {"submitted_s", "tenant", "video_minutes"}) {
      if (!column(name)) refuse(fmt::format("has no column {} in the heading", name));
    }
    JobTrace trace;
    while (next()) {
      if (record_.fields().size() == 1 && record_.fields()[0].empty()) continue;
      if (record_.fields().size() != heading_.size()) {
        refuse(fmt::format("has {} columns, the heading has {}", record_.fields().size(),
                           heading_.size()));
      }
      trace.push_back(job());
      if (trace.size() > 1 && trace.back().submitted < trace[trace.size() - 2].submitted)
        refuse("comes before the line above it; sort the file by submitted_s");
    }
    if (trace.empty()) refuse("is the end of the file, and there is no job in it");
    return trace;
  }

 private:
  bool next() {
    record_.clear();
    if (!std::getline(stream_, line_)) return false;
    ++number_;
    if (!line_.empty() && line_.back() == '\r') line_.pop_back();
    if (record_.add(line_) != CsvRecord::Reading::complete) refuse("has a quote out of place");
    return true;
  }

  TracedJob job() {
    TracedJob job{.submitted = from_seconds(number("submitted_s", 0, k_longest_trace_s, 0)),
                  .tenant = record_.fields()[*column("tenant")]};
    if (!valid_tenant_name({job.tenant})) {
      refuse(fmt::format("has tenant = \"{}\", which is not a valid tenant name: {}",
                         printable_start(job.tenant, 40), k_tenant_name_rule));
    }
    job.work = VideoMinutes(from_seconds(60 * number("video_minutes", 0, k_longest_job_min, 0)));
    job.plan = static_cast<int>(number("plan", 0, k_highest_plan, 0));
    job.weight = number("weight", k_least_weight, k_most_weight, 1);
    return job;
  }

  double number(std::string_view name, double least, double most, double otherwise) const {
    const auto at = column(name);
    if (!at) return otherwise;
    const std::string& text = record_.fields()[*at];
    const auto value = parse_number<double>(text);
    if (value && *value >= least && *value <= most) return *value;
    refuse(fmt::format("has {} = \"{}\", which is not a number from {:g} to {:g}", name,
                       printable_start(text, 40), least, most));
  }

  std::optional<std::size_t> column(std::string_view name) const {
    const auto found = std::find(heading_.begin(), heading_.end(), name);
    if (found == heading_.end()) return std::nullopt;
    return static_cast<std::size_t>(found - heading_.begin());
  }

  [[noreturn]] void refuse(const std::string& what) const {
    throw Error(Code::invalid, fmt::format("{}: line {} {}", file_.native(), number_, what));
  }

  const std::filesystem::path& file_;
  std::ifstream stream_;
  std::string line_{};
  CsvRecord record_{};
  std::vector<std::string> heading_{};
  int number_ = 0;
};

// Mean `mean`, at least 1.
int geometric(Random& random, double mean) {
  if (mean <= 1) return 1;
  const double count = std::log(random.uniform()) / std::log(1 - 1 / mean);
  return 1 + static_cast<int>(std::min(count, 1e6));
}

}  // namespace

JobTrace read_job_trace(const std::filesystem::path& file) { return JobTraceReader(file).read(); }

std::string as_csv(const JobTrace& trace) {
  std::string text = "submitted_s,tenant,video_minutes,plan,weight\n";
  for (const TracedJob& job : trace) {
    text += fmt::format("{:.3f},{},{:.4f},{},{:g}\n", in_seconds(job.submitted), job.tenant,
                        job.work.count(), job.plan, job.weight);
  }
  return text;
}

JobTrace generate(const JobTraceOptions& options) {
  double all = 0;
  for (int i = 1; i <= options.tenants; ++i) all += std::pow(i, -options.zipf);
  const double median = options.job_minutes * std::exp(-options.job_sigma * options.job_sigma / 2);
  JobTrace trace;
  for (int i = 1; i <= options.tenants; ++i) {
    Random random(options.seed, static_cast<std::uint64_t>(i));
    const double rate = options.arriving * std::pow(i, -options.zipf) / all;
    const double between_min = options.batch_jobs * options.job_minutes / rate;
    for (double at_min = random.exponential(between_min); at_min < options.hours * 60;
         at_min += random.exponential(between_min)) {
      for (int left = geometric(random, options.batch_jobs); left > 0; --left) {
        const double minutes = random.lognormal(median, options.job_sigma);
        trace.push_back({.submitted = from_seconds(at_min * 60),
                         .tenant = fmt::format("tenant-{:02}", i),
                         .work = VideoMinutes(from_seconds(60 * std::min(minutes, 600.0)))});
      }
    }
  }
  std::stable_sort(trace.begin(), trace.end(), [](const TracedJob& a, const TracedJob& b) {
    return a.submitted < b.submitted;
  });
  return trace;
}

JobTrace flooded(const JobTrace& trace, const std::string& tenant, int factor) {
  JobTrace more;
  bool found = false;
  for (const TracedJob& job : trace) {
    const bool floods = job.tenant == tenant;
    found = found || floods;
    more.insert(more.end(), floods ? static_cast<std::size_t>(factor) : 1, job);
  }
  if (!found) throw Error(Code::invalid, "the trace has no tenant '" + printable(tenant) + "'");
  return more;
}

std::string largest_tenant(const JobTrace& trace) {
  std::map<std::string, VideoMinutes> work;
  for (const TracedJob& job : trace) work[job.tenant] += job.work;
  const auto most = std::max_element(
      work.begin(), work.end(), [](const auto& a, const auto& b) { return a.second < b.second; });
  return most == work.end() ? std::string{} : most->first;
}

}  // namespace navtalk
