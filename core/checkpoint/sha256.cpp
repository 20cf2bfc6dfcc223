// SHA-256 of a file, read in pieces.
#include <fmt/format.h>
#include <openssl/evp.h>

#include <algorithm>
#include <array>

#include "core/base/check.h"
#include "core/base/cptr.h"
#include "core/checkpoint/checkpoint.h"
#include "core/checkpoint/mapped_file.h"

namespace navtalk {
namespace {

constexpr std::size_t k_chunk = std::size_t{4} << 20;

}  // namespace

std::string sha256_file(const std::filesystem::path& path, const Progress& progress) {
  // Mapped, whatever its size: the bytes are looked at once.
  const MappedFile file = MappedFile::open(path, UINT64_MAX, 0);
  std::string digest = sha256(file.bytes(), progress);
  file.check();
  return digest;
}

std::string sha256(std::span<const std::byte> bytes, const Progress& progress) {
  const CPtr<EVP_MD_CTX, EVP_MD_CTX_free> context(EVP_MD_CTX_new());
  NAVTALK_CHECK(context && EVP_DigestInit_ex(context.get(), EVP_sha256(), nullptr) == 1);
  for (std::size_t done = 0; done < bytes.size();) {
    const std::size_t count = std::min(k_chunk, bytes.size() - done);
    NAVTALK_CHECK(EVP_DigestUpdate(context.get(), bytes.data() + done, count) == 1);
    done += count;
    if (progress) progress("hashing", done, bytes.size());
  }
  std::array<unsigned char, EVP_MAX_MD_SIZE> digest{};
  unsigned length = 0;
  NAVTALK_CHECK(EVP_DigestFinal_ex(context.get(), digest.data(), &length) == 1);
  std::string hex;
  for (unsigned i = 0; i < length; ++i) hex += fmt::format("{:02x}", digest[i]);
  return hex;
}

}  // namespace navtalk
