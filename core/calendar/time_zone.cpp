#include "core/calendar/time_zone.h"

#include <algorithm>
#include <cstdint>
#include <fstream>
#include <sstream>

#include "core/base/error.h"
#include "core/calendar/posix_zone.h"
#include "core/text/printable.h"

namespace navtalk {
namespace {

using std::chrono::days;
using std::chrono::seconds;

constexpr std::size_t k_header = 44;
// No zone has changed its clocks twice within so long since 1970.
constexpr seconds k_around = std::chrono::hours(15);

// The file's numbers, which are big-endian. Error{invalid} past the end.
class ZoneBytes {
 public:
  explicit ZoneBytes(std::string_view bytes) : bytes_(bytes) {}

  std::string_view take(std::size_t count) {
    if (count > bytes_.size()) throw Error(Code::invalid, "is truncated");
    const std::string_view taken = bytes_.substr(0, count);
    bytes_.remove_prefix(count);
    return taken;
  }
  template <class Number>
  Number number() {
    std::uint64_t value = 0;
    for (const char byte : take(sizeof(Number))) {
      value = (value << 8U) | static_cast<unsigned char>(byte);
    }
    return static_cast<Number>(value);
  }
  std::string_view rest() const { return bytes_; }

 private:
  std::string_view bytes_;
};

struct ZoneHeader {
  char version = 0;
  std::size_t universal = 0, standard = 0, leaps = 0, times = 0, types = 0, letters = 0;

  std::size_t size(std::size_t of_time) const {
    return times * (of_time + 1) + types * 6 + letters + leaps * (of_time + 4) + standard +
           universal;
  }
};

ZoneHeader take_header(ZoneBytes& bytes) {
  if (bytes.take(4) != "TZif") throw Error(Code::invalid, "is not a TZif file");
  ZoneHeader header{.version = bytes.take(1).front()};
  bytes.take(15);
  for (std::size_t* count : {&header.universal, &header.standard, &header.leaps, &header.times,
                             &header.types, &header.letters}) {
    *count = bytes.number<std::uint32_t>();
  }
  if (header.types == 0) throw Error(Code::invalid, "has no local time");
  return header;
}

bool is_zone_name(std::string_view name) {
  const auto good = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '/' ||
           c == '_' || c == '+' || c == '-';
  };
  return !name.empty() && name.front() != '/' && name.back() != '/' &&
         std::all_of(name.begin(), name.end(), good);
}

}  // namespace

TimeZone TimeZone::load(const std::string& name, const std::filesystem::path& folder) {
  const std::string shown = "'" + printable(name) + "'";
  if (!is_zone_name(name)) throw Error(Code::invalid, shown + " is not the name of a time zone");
  const std::filesystem::path file = folder / name;
  std::error_code ignored;
  std::ifstream in(file, std::ios::binary);
  std::stringstream text;
  if (in && std::filesystem::is_regular_file(file, ignored)) text << in.rdbuf();
  if (text.view().empty()) {
    throw Error(Code::not_found, "there is no time zone " + shown + " in " + folder.native());
  }
  return parse(name, text.view());
}

TimeZone TimeZone::parse(const std::string& name, std::string_view tzif) try {
  ZoneBytes bytes(tzif);
  const ZoneHeader old = take_header(bytes);
  if (old.version < '2')
    throw Error(Code::invalid, "has a format from before 2005, which is not supported");
  bytes.take(old.size(4));
  const ZoneHeader header = take_header(bytes);
  ZoneBytes times(bytes.take(header.times * 8));
  const std::string_view types = bytes.take(header.times);
  ZoneBytes records(bytes.take(header.types * 6));
  std::vector<seconds> offsets;
  for (std::size_t i = 0; i < header.types; ++i) {
    offsets.emplace_back(records.number<std::int32_t>());
    records.take(2);
  }
  bytes.take(header.letters + header.leaps * 12 + header.standard + header.universal);
  TimeZone zone;
  zone.name_ = name;
  zone.first_offset_ = offsets.front();
  for (const char type : types) {
    const std::size_t index = static_cast<unsigned char>(type);
    if (index >= offsets.size())
      throw Error(Code::invalid, "names a local time that it does not define");
    const Instant at{seconds(times.number<std::int64_t>())};
    if (!zone.changes_.empty() && at <= zone.changes_.back().at) {
      throw Error(Code::invalid, "has changes that are out of order");
    }
    zone.changes_.push_back({at, offsets[index]});
  }
  std::string_view footer = bytes.rest();
  if (footer.size() < 2 || footer.front() != '\n' || footer.back() != '\n') {
    throw Error(Code::invalid, "is truncated");
  }
  footer = footer.substr(1, footer.size() - 2);
  if (!footer.empty()) zone.rule_ = parse_posix_zone(footer);
  return zone;
} catch (const Error& error) {
  throw error.within("the file of the time zone '" + printable(name) + "'");
}

seconds TimeZone::offset_at(Instant time) const {
  const auto after = std::upper_bound(changes_.begin(), changes_.end(), time,
                                      [](Instant at, const Change& one) { return at < one.at; });
  if (after == changes_.end() && rule_) return offset_by(*rule_, time);
  return after == changes_.begin() ? first_offset_ : std::prev(after)->offset;
}

TimeZone::Local TimeZone::local(Instant time) const {
  return Local((time + offset_at(time)).time_since_epoch());
}

TimeZone::Moments TimeZone::moments(Local time) const {
  const Instant as_utc(time.time_since_epoch());
  Instant before = as_utc - k_around, after = as_utc + k_around;
  const seconds old_offset = offset_at(before), new_offset = offset_at(after);
  const Instant first = as_utc - old_offset, second = as_utc - new_offset;
  const bool is_first = offset_at(first) == old_offset;
  const bool is_second = offset_at(second) == new_offset;
  if (is_first && is_second) return {std::min(first, second), std::max(first, second)};
  if (is_first) return {first, first};
  if (is_second) return {second, second};
  while (after - before > seconds(1)) {  // the change lies in (before, after]
    const Instant middle = before + (after - before) / 2;
    (offset_at(middle) == old_offset ? before : after) = middle;
  }
  return {after, after, false};
}

}  // namespace navtalk
