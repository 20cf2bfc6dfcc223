// Which connection fetches which bytes of a file, and which of them can be written now. The file on the
// disk always is a beginning of the content, so that its size alone says what a killed process has kept;
// what comes ahead of that waits beside it (ahead_files.h):
//
//   0          written       written + ahead                   whole
//   |##########|>>>>...|>>>>>>>|>.....|                         |
//    on disk    front   arrived, kept  being fetched   not given out yet
//
// Pure: the time is an argument. One thread at a time.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string_view>
#include <vector>

#include "core/artifacts/ranges/ahead_files.h"
#include "core/artifacts/ranges/range_options.h"

namespace navtalk {

class RangePlan {
 public:
  using Time = std::chrono::steady_clock::time_point;
  // Where the bytes go.
  struct Storage {
    std::function<void(std::string_view)> write;                      // to the end of the file
    std::function<void(std::uint64_t first, std::string_view)> keep;  // to the end of a range ahead
    std::function<void(std::uint64_t first)> write_kept;  // the range to the end of the file
  };

  struct Range {
    std::uint64_t first = 0, end = 0;
    std::optional<std::size_t> loser{};  // the connection from which it was taken
  };

  // `written` bytes of `whole` are there, and `kept` ranges ahead of them.
  RangePlan(std::uint64_t written, std::uint64_t whole, RangeSizes sizes, Storage storage,
            const std::vector<AheadFiles::Kept>& kept = {});

  // What the connection fetches next: what was given back, what nobody has yet, or the rest of a range
  // whose connection is so slow that this one has it in less than half the time. nullopt: nothing for now.
  std::optional<Range> next(std::size_t connection, Time now);
  // The next bytes of its range. False when it need not send more: others have the rest.
  bool receive(std::size_t connection, std::string_view bytes, Time now);
  // The connection is through with its range; what did not come is for others. False when some did not.
  bool release(std::size_t connection);
  bool whole() const { return written_ == whole_; }

 private:
  struct Part {
    std::uint64_t end = 0, have = 0;  // of the content; bytes that came
    bool kept = false;                // they are not written yet
    std::optional<std::size_t> holder{};
    Time since{};
  };
  struct Speed {
    std::uint64_t bytes = 0;
    std::chrono::duration<double> time{};
  };
  using Parts = std::map<std::uint64_t, Part>;  // by their first byte

  Parts::iterator held_by(std::size_t connection);
  Parts::iterator split(Parts::iterator part);
  Range give(Parts::iterator part, std::size_t connection, Time now);
  std::optional<Range> take_over(std::size_t connection, Time now);
  void write_arrived();
  std::uint64_t size_for(std::size_t connection) const;  // of its next range
  Parts::iterator new_part(std::size_t connection);

  const std::uint64_t whole_;
  const RangeSizes sizes_;
  const Storage storage_;
  std::uint64_t written_, given_;  // bytes from the beginning
  Parts parts_{};
  std::map<std::size_t, Speed> speeds_{};
};

}  // namespace navtalk
