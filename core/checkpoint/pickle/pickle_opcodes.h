// The pickle opcodes that navtalk reads, by Python's names (pickletools).
#pragma once

#include <cstdint>

namespace navtalk::op {

inline constexpr std::uint8_t k_proto = 0x80, k_frame = 0x95, k_stop = 0x2e, k_mark = 0x28,
                              k_pop = 0x30, k_pop_mark = 0x31, k_dup = 0x32;
inline constexpr std::uint8_t k_none = 0x4e, k_new_true = 0x88, k_new_false = 0x89,
                              k_bin_int = 0x4a, k_bin_int1 = 0x4b, k_bin_int2 = 0x4d,
                              k_long1 = 0x8a, k_long4 = 0x8b, k_bin_float = 0x47;
inline constexpr std::uint8_t k_short_bin_string = 0x55, k_bin_string = 0x54, k_bin_unicode = 0x58,
                              k_short_bin_unicode = 0x8c, k_bin_unicode8 = 0x8d, k_bin_bytes = 0x42,
                              k_short_bin_bytes = 0x43, k_bin_bytes8 = 0x8e, k_byte_array8 = 0x96;
inline constexpr std::uint8_t k_empty_list = 0x5d, k_append = 0x61, k_appends = 0x65,
                              k_empty_tuple = 0x29, k_tuple = 0x74, k_tuple1 = 0x85,
                              k_tuple2 = 0x86, k_tuple3 = 0x87, k_empty_set = 0x8f,
                              k_add_items = 0x90, k_frozen_set = 0x91;
inline constexpr std::uint8_t k_empty_dict = 0x7d, k_set_item = 0x73, k_set_items = 0x75;
inline constexpr std::uint8_t k_bin_put = 0x71, k_long_bin_put = 0x72, k_memoize = 0x94,
                              k_bin_get = 0x68, k_long_bin_get = 0x6a;
inline constexpr std::uint8_t k_global = 0x63, k_stack_global = 0x93, k_reduce = 0x52,
                              k_new_obj = 0x81, k_new_obj_ex = 0x92, k_build = 0x62,
                              k_bin_pers_id = 0x51;

}  // namespace navtalk::op
