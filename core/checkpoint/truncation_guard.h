// Keeps a program alive when a file that it has mapped is cut: the system answers a read behind the
// file's new end with SIGBUS. Within a guarded range such a page becomes zeros, and the reader asks
// the file afterwards whether it still has its length. Everywhere else SIGBUS does what it did before.
// Thread-safe.
#pragma once

#include <cstddef>
#include <span>

namespace navtalk {

// From the first call on, the process has a handler for SIGBUS. Beyond k_guarded_ranges ranges at
// once, the further ones are not guarded.
inline constexpr std::size_t k_guarded_ranges = 256;
void guard_against_truncation(std::span<const std::byte> range);
// Has a page of it become zeros?
bool was_cut(std::span<const std::byte> range);
void end_guard(std::span<const std::byte> range);

}  // namespace navtalk
