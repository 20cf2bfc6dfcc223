// A time zone by its name ("Europe/Berlin"), read from the system's files in TZif format (RFC 9636).
// A value; const members are thread-safe.
#pragma once

#include <chrono>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace navtalk {

inline constexpr const char* k_zone_folder = "/usr/share/zoneinfo";

class TimeZone {
 public:
  using Instant = std::chrono::sys_seconds;
  using Local = std::chrono::local_seconds;

  // The days of the year on which clocks change, for times after the last one that a file lists: the
  // POSIX form of TZ, "CET-1CEST,M3.5.0,M10.5.0/3".
  struct Day {
    enum class Kind { nth_weekday, julian, zero_based } kind = Kind::nth_weekday;
    int month = 1, week = 1, weekday = 0;  // nth_weekday; week 5 is the last one
    int number = 0;                        // julian: 1 to 365 without 29 February; else 0 to 365
    std::chrono::seconds time{7200};       // after local midnight
  };
  struct Rule {
    std::chrono::seconds offset{}, summer_offset{};  // east of UTC
    bool has_summer = false;
    Day begins{}, ends{};  // of summer time
  };

  // Error{not_found} for a name that `folder` lacks, Error{invalid} for one that cannot be a zone's,
  // or a file of another format.
  static TimeZone load(const std::string& name,
                       const std::filesystem::path& folder = k_zone_folder);
  // From a file's bytes. Error{invalid}.
  static TimeZone parse(const std::string& name, std::string_view tzif);

  const std::string& name() const { return name_; }
  // East of UTC: 3600 s in Berlin in winter.
  std::chrono::seconds offset_at(Instant time) const;
  Local local(Instant time) const;

  // When the zone's clocks show a time: once, twice (they were set back), or never (they were set
  // forward). Never: both are the moment at which they were set.
  struct Moments {
    Instant first{}, second{};
    bool exists = true;
  };
  Moments moments(Local time) const;

 private:
  struct Change {
    Instant at{};
    std::chrono::seconds offset{};  // from then on
  };

  std::string name_;
  std::chrono::seconds first_offset_{};  // before the first change
  std::vector<Change> changes_;          // ascending
  std::optional<Rule> rule_{};           // after the last one
};

}  // namespace navtalk
