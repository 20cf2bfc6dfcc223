#include "core/base/id.h"

#include <openssl/rand.h>

#include <array>
#include <string_view>

#include "core/base/error.h"
#include "core/text/printable.h"

namespace navtalk {

std::string random_id() {
  std::array<unsigned char, 16> bytes{};
  if (RAND_bytes(bytes.data(), static_cast<int>(bytes.size())) != 1) {
    throw Error(Code::failed, "the system gives no random bytes");
  }
  std::string raw(bytes.begin(), bytes.end());
  return hex(raw);
}

}  // namespace navtalk
