#include "core/artifacts/ranges/range_plan.h"

#include <algorithm>
#include <utility>

namespace navtalk {
namespace {

using Seconds = std::chrono::duration<double>;

// No connection is judged earlier. What a loser had in the network is sent twice, so that a short pause is waited for.
constexpr Seconds k_settling{4};
constexpr double k_slower = 2;
// Ranges that take longer would let the written beginning grow at the speed of one connection alone, and then by leaps: those
// to whom it is passed on would take this machine for slow.
constexpr Seconds k_range_time{2};

}  // namespace

RangePlan::RangePlan(std::uint64_t written, std::uint64_t whole, RangeSizes sizes, Storage storage,
                     const std::vector<AheadFiles::Kept>& kept)
    : whole_(whole),
      sizes_(sizes),
      storage_(std::move(storage)),
      written_(written),
      given_(written) {
  for (const auto& [first, bytes] : kept)
    parts_.emplace(first, Part{.end = first + bytes, .have = bytes, .kept = true});
  write_arrived();
}

RangePlan::Parts::iterator RangePlan::held_by(std::size_t connection) {
  return std::find_if(parts_.begin(), parts_.end(),
                      [&](const auto& part) { return part.second.holder == connection; });
}

// What came stays; the part with the rest, which nobody holds.
RangePlan::Parts::iterator RangePlan::split(Parts::iterator part) {
  part->second.holder.reset();
  if (part->second.have == 0) return part;
  const std::uint64_t middle = part->first + part->second.have;
  const Part rest{.end = std::exchange(part->second.end, middle)};
  return parts_.emplace(middle, rest).first;
}

RangePlan::Range RangePlan::give(Parts::iterator part, std::size_t connection, Time now) {
  part->second.holder = connection;
  part->second.since = now;
  return {.first = part->first, .end = part->second.end};
}

std::optional<RangePlan::Range> RangePlan::next(std::size_t connection, Time now) {
  const auto left = std::find_if(parts_.begin(), parts_.end(), [](const auto& part) {
    return !part.second.holder && part.first + part.second.have < part.second.end;
  });
  if (left != parts_.end()) return give(left, connection, now);
  const auto fresh = new_part(connection);
  return fresh == parts_.end() ? take_over(connection, now) : give(fresh, connection, now);
}

std::uint64_t RangePlan::size_for(std::size_t connection) const {
  const std::uint64_t least = std::min(sizes_.least, sizes_.range);
  const auto known = speeds_.find(connection);
  if (known == speeds_.end() || known->second.bytes == 0) return least;
  const Speed& speed = known->second;
  const double within = static_cast<double>(speed.bytes) * k_range_time.count();
  // Also where it took no time that can be told.
  if (within >= static_cast<double>(sizes_.range) * speed.time.count()) return sizes_.range;
  return std::max(least, static_cast<std::uint64_t>(within / speed.time.count()));
}

// The first range that nobody had; the end when there is none, or too much waits already.
RangePlan::Parts::iterator RangePlan::new_part(std::size_t connection) {
  given_ = std::max(given_, written_);
  auto behind = parts_.lower_bound(given_);
  for (; behind != parts_.end() && behind->first == given_; ++behind) given_ = behind->second.end;
  if (given_ == whole_ || given_ - written_ >= sizes_.ahead) return parts_.end();
  const std::uint64_t first = given_;
  given_ = std::min(first + size_for(connection), behind == parts_.end() ? whole_ : behind->first);
  return parts_.emplace(first, Part{.end = given_}).first;
}

std::optional<RangePlan::Range> RangePlan::take_over(std::size_t connection, Time now) {
  const Speed& own = speeds_[connection];
  if (own.bytes == 0) return std::nullopt;
  const double byte_s = own.time.count() / static_cast<double>(own.bytes);
  for (auto part = parts_.begin(); part != parts_.end(); ++part) {
    const Part& slow = part->second;
    const Seconds passed = now - slow.since;
    if (!slow.holder || passed < k_settling) continue;
    const auto missing = static_cast<double>(slow.end - part->first - slow.have);
    const double its_byte_s =
        passed.count() / static_cast<double>(std::max<std::uint64_t>(1, slow.have));
    if (missing * its_byte_s < k_slower * missing * byte_s + k_settling.count()) continue;
    const std::size_t loser = *slow.holder;
    Range range = give(split(part), connection, now);
    range.loser = loser;
    return range;
  }
  return std::nullopt;
}

bool RangePlan::receive(std::size_t connection, std::string_view bytes, Time now) {
  const auto part = held_by(connection);
  if (part == parts_.end()) return false;  // another one has it
  const std::uint64_t at = part->first + part->second.have;
  const bool all_wanted = bytes.size() <= part->second.end - at;
  if (!all_wanted) bytes = bytes.substr(0, part->second.end - at);
  part->second.have += bytes.size();
  if (part->second.have == part->second.end - part->first) {
    Speed& speed = speeds_[connection];
    speed.bytes += part->second.have;
    speed.time += now - part->second.since;
  }
  if (at == written_) {
    storage_.write(bytes);
    written_ += bytes.size();
  } else if (!bytes.empty()) {
    storage_.keep(part->first, bytes);
    part->second.kept = true;
  }
  write_arrived();
  return all_wanted;
}

// A part goes when all of it is written; its connection has nothing more to send then.
void RangePlan::write_arrived() {
  while (!parts_.empty()) {
    const auto front = parts_.begin();
    if (front->second.kept && front->first == written_) {
      storage_.write_kept(front->first);
      written_ += front->second.have;
      front->second.kept = false;
    }
    if (written_ < front->second.end) return;
    parts_.erase(front);
  }
}

bool RangePlan::release(std::size_t connection) {
  const auto part = held_by(connection);
  if (part == parts_.end()) return true;
  const bool all = part->first + part->second.have == part->second.end;
  if (all) {
    part->second.holder.reset();
  } else {
    split(part);
    write_arrived();
  }
  return all;
}

}  // namespace navtalk
