#include "core/net/public_address.h"

#include <netinet/in.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <span>

namespace navtalk {
namespace {

struct Network4 {
  std::uint32_t address;
  int bits;
};

constexpr std::uint32_t quad(unsigned a, unsigned b, unsigned c, unsigned d) {
  return (a << 24U) | (b << 16U) | (c << 8U) | d;
}

constexpr std::array<Network4, 15> k_special4 = {{{quad(0, 0, 0, 0), 8},
                                                  {quad(10, 0, 0, 0), 8},
                                                  {quad(100, 64, 0, 0), 10},
                                                  {quad(127, 0, 0, 0), 8},
                                                  {quad(169, 254, 0, 0), 16},
                                                  {quad(172, 16, 0, 0), 12},
                                                  {quad(192, 0, 0, 0), 24},
                                                  {quad(192, 0, 2, 0), 24},
                                                  {quad(192, 88, 99, 0), 24},
                                                  {quad(192, 168, 0, 0), 16},
                                                  {quad(198, 18, 0, 0), 15},
                                                  {quad(198, 51, 100, 0), 24},
                                                  {quad(203, 0, 113, 0), 24},
                                                  {quad(224, 0, 0, 0), 4},
                                                  {quad(240, 0, 0, 0), 4}}};

bool is_public4(std::uint32_t address) {
  return std::none_of(k_special4.begin(), k_special4.end(), [&](const Network4& network) {
    return (address ^ network.address) >> (32 - network.bits) == 0;
  });
}

using Bytes6 = std::array<std::uint8_t, 16>;

std::uint32_t quad_at(const Bytes6& bytes, std::size_t at) {
  return quad(bytes.at(at), bytes.at(at + 1), bytes.at(at + 2), bytes.at(at + 3));
}

bool starts_with(const Bytes6& bytes, std::initializer_list<std::uint8_t> prefix) {
  return std::equal(prefix.begin(), prefix.end(), bytes.begin());
}

bool is_public6(const Bytes6& bytes) {
  if (starts_with(bytes, {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff}) ||     // ::ffff:a.b.c.d
      starts_with(bytes, {0, 0x64, 0xff, 0x9b, 0, 0, 0, 0, 0, 0, 0, 0})) {  // NAT64
    return is_public4(quad_at(bytes, 12));
  }
  if (starts_with(bytes, {0x20, 0x02})) return is_public4(quad_at(bytes, 2));  // 6to4
  if (starts_with(bytes, {0x20, 0x01, 0x0d, 0xb8})) return false;              // examples
  if (starts_with(bytes, {0x20, 0x01}) && bytes[2] < 2) return false;          // Teredo and others
  return (bytes[0] & 0xe0U) == 0x20;  // 2000::/3: all others are not unicast addresses of everybody
}

}  // namespace

bool is_public(const sockaddr& address, socklen_t length) {
  if (address.sa_family == AF_INET && length >= sizeof(sockaddr_in)) {
    sockaddr_in four{};
    std::memcpy(&four, &address, sizeof(four));
    return is_public4(ntohl(four.sin_addr.s_addr));
  }
  if (address.sa_family == AF_INET6 && length >= sizeof(sockaddr_in6)) {
    sockaddr_in6 six{};
    std::memcpy(&six, &address, sizeof(six));
    Bytes6 bytes{};
    std::memcpy(bytes.data(), &six.sin6_addr, bytes.size());
    return is_public6(bytes);
  }
  return false;
}

}  // namespace navtalk
