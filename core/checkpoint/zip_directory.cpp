//   | local header, name, extra, data |...| central directory | (zip64 end, locator) | end, comment |
//
// Torch leaves size and CRC out of the local headers (flag 3) and pads their extra field to align
// the data, so sizes come from the central directory and places from the local headers.
#include "core/checkpoint/zip_directory.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "core/base/error.h"
#include "core/checkpoint/byte_cursor.h"
#include "core/checkpoint/refuse.h"

namespace navtalk {
namespace {

constexpr std::uint32_t k_local = 0x04034b50, k_central = 0x02014b50, k_end = 0x06054b50,
                        k_end64 = 0x06064b50, k_locator64 = 0x07064b50;
constexpr std::size_t k_local_bytes = 30, k_end_bytes = 22, k_end64_bytes = 56,
                      k_locator64_bytes = 20;
constexpr std::size_t k_max_comment = 0xffff;
constexpr std::uint64_t k_max_entries = 100'000;
constexpr std::uint16_t k_zip64_field = 1;
constexpr std::uint32_t k_in_zip64 = 0xffffffff;
constexpr std::uint16_t k_encrypted = 0x2041;  // flags 0, 6 and 13

struct Directory {
  std::uint64_t entries = 0, bytes = 0, begin = 0;
  std::size_t end = 0;  // where the records behind the directory start
};

struct Member {
  std::string name;
  std::uint64_t header = 0, bytes = 0;  // where its local header starts; size of its data
  bool compressed = false;
  std::uint64_t data = 0;  // where its data starts
};

// The last end record whose comment ends with the file.
std::size_t find_end(std::span<const std::byte> file) {
  if (file.size() >= k_end_bytes) {
    const std::size_t last = file.size() - k_end_bytes;
    for (std::size_t back = 0; back <= std::min(last, k_max_comment); ++back) {
      const std::size_t at = last - back;
      if (ByteCursor(file, at).u32() == k_end && ByteCursor(file, at + 20).u16() == back) return at;
    }
  }
  refuse("truncated, or bytes follow its end: no end of a zip directory");
}

Directory read_end64(std::span<const std::byte> file, std::size_t locator) {
  ByteCursor in(file, locator + 4);
  const std::uint32_t disk = in.u32();
  const std::uint64_t at = in.u64();
  if (disk != 0 || in.u32() > 1) refuse("a zip archive of several disks");
  if (locator < k_end64_bytes || at > locator - k_end64_bytes)
    refuse("the zip64 end lies outside the file");
  ByteCursor end(file, at);
  if (end.u32() != k_end64) refuse("the zip64 end is not where it should be");
  end.take(8 + 2 + 2);
  if (end.u32() != 0 || end.u32() != 0) refuse("a zip archive of several disks");
  Directory directory;
  directory.entries = end.u64();
  if (end.u64() != directory.entries) refuse("a zip archive of several disks");
  directory.bytes = end.u64();
  directory.begin = end.u64();
  directory.end = at;
  return directory;
}

Directory read_end(std::span<const std::byte> file) {
  const std::size_t at = find_end(file);
  if (at >= k_locator64_bytes && ByteCursor(file, at - k_locator64_bytes).u32() == k_locator64)
    return read_end64(file, at - k_locator64_bytes);
  ByteCursor in(file, at + 4);
  if (in.u16() != 0 || in.u16() != 0) refuse("a zip archive of several disks");
  Directory directory;
  directory.entries = in.u16();
  if (in.u16() != directory.entries) refuse("a zip archive of several disks");
  directory.bytes = in.u32();
  directory.begin = in.u32();
  directory.end = at;
  return directory;
}

// Sizes and place move to the zip64 extra field, in this order, where 32 bits do not hold them.
void read_zip64_field(ByteCursor extra, std::uint64_t& full, std::uint64_t& stored,
                      std::uint64_t& header) {
  while (extra.left() >= 4) {
    const std::uint16_t id = extra.u16();
    ByteCursor field(extra.take(extra.u16()));
    if (id != k_zip64_field) continue;
    for (std::uint64_t* value : {&full, &stored, &header}) {
      if (*value == k_in_zip64) *value = field.u64();
    }
    return;
  }
}

Member read_member(ByteCursor& in) {
  if (in.u32() != k_central) refuse("the zip directory is damaged");
  in.take(2 + 2);
  const std::uint16_t flags = in.u16();
  const std::uint16_t method = in.u16();
  in.take(2 + 2 + 4);
  std::uint64_t stored = in.u32();
  std::uint64_t full = in.u32();
  const std::uint16_t name_bytes = in.u16();
  const std::uint16_t extra_bytes = in.u16();
  const std::uint16_t comment_bytes = in.u16();
  if (in.u16() != 0) refuse("a zip archive of several disks");
  in.take(2 + 4);
  std::uint64_t header = in.u32();
  const std::string name(in.take_text(name_bytes));
  read_zip64_field(ByteCursor(in.take(extra_bytes)), full, stored, header);
  in.take(comment_bytes);
  if ((flags & k_encrypted) != 0) refuse(fmt::format("member {} is encrypted", name));
  if (method == 0 && full != stored) refuse(fmt::format("member {} has two sizes", name));
  return {.name = name, .header = header, .bytes = stored, .compressed = method != 0};
}

void locate_data(std::span<const std::byte> file, std::uint64_t limit, Member& member) {
  if (member.header > limit || limit - member.header < k_local_bytes)
    refuse(fmt::format("member {} lies outside the file", member.name));
  ByteCursor in(file.first(limit), member.header);
  if (in.u32() != k_local) refuse(fmt::format("member {} has no header of its own", member.name));
  in.take(22);
  const std::uint16_t name_bytes = in.u16();
  const std::uint16_t extra_bytes = in.u16();
  if (in.take_text(name_bytes) != member.name)
    refuse(fmt::format("member {} has another name in its own header", member.name));
  in.take(extra_bytes);
  member.data = in.position();
  if (member.bytes > in.left()) refuse(fmt::format("member {} lies outside the file", member.name));
}

void check_disjoint(std::vector<Member> members) {
  std::sort(members.begin(), members.end(),
            [](const Member& a, const Member& b) { return a.header < b.header; });
  for (std::size_t i = 1; i < members.size(); ++i) {
    if (members[i].header < members[i - 1].data + members[i - 1].bytes)
      refuse(fmt::format("members {} and {} overlap", members[i - 1].name, members[i].name));
  }
}

}  // namespace

ZipMembers read_zip_directory(std::span<const std::byte> file) {
  const Directory directory = read_end(file);
  if (directory.begin > directory.end || directory.bytes != directory.end - directory.begin)
    refuse("the zip directory lies outside the file");
  if (directory.entries > k_max_entries)
    refuse(fmt::format("{} members are more than {}", directory.entries, k_max_entries));
  std::vector<Member> members;
  ZipMembers by_name;
  ByteCursor in(file.first(directory.end), directory.begin);
  for (std::uint64_t i = 0; i < directory.entries; ++i) {
    Member member = read_member(in);
    locate_data(file, directory.begin, member);
    if (!by_name
             .emplace(member.name,
                      ZipMember{file.subspan(member.data, member.bytes), member.compressed})
             .second)
      refuse(fmt::format("two members are called {}", member.name));
    members.push_back(std::move(member));
  }
  if (in.left() != 0) refuse("the zip directory is longer than its members");
  check_disjoint(std::move(members));
  return by_name;
}

}  // namespace navtalk
