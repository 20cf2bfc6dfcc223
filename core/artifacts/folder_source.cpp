#include "core/artifacts/folder_source.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <vector>

#include "core/base/error.h"
#include "core/base/interrupt.h"
#include "core/checkpoint/checkpoint.h"
#include "core/files/partial_path.h"
#include "core/files/whole_file.h"

namespace navtalk {
namespace {

namespace fs = std::filesystem;
using Outcome = Transfer::Outcome;

constexpr std::size_t k_piece = std::size_t{1} << 20;  // bytes

// Reads pieces of a file from `from` on and gives them away, until `take` is false.
template <class Take>
int read_pieces(int file, std::uint64_t from, const std::stop_token& stop, const Take& take) {
  std::vector<char> piece(k_piece);
  for (;;) {
    throw_if_stopped(stop);
    const ssize_t got = ::pread(file, piece.data(), piece.size(), static_cast<off_t>(from));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return errno;
    if (got == 0 || !take(std::string_view(piece.data(), static_cast<std::size_t>(got)))) return 0;
    from += static_cast<std::uint64_t>(got);
  }
}

void write_all(int file, std::string_view bytes, const fs::path& shown) {
  while (!bytes.empty()) {
    const ssize_t put = ::write(file, bytes.data(), bytes.size());
    if (put < 0 && errno == EINTR) continue;
    if (put < 0)
      throw Error(Code::failed, shown.native() + " cannot be written: " + system_message(errno));
    bytes.remove_prefix(static_cast<std::size_t>(put));
  }
}

class FolderSource : public ArtifactSource {
 public:
  explicit FolderSource(const fs::path& folder)
      : folder_(fs::absolute(folder)), name_(folder_.native()) {}

  const std::string& name() const override { return name_; }

  Transfer read(const std::string& key, std::size_t longest, std::string& text,
                const std::stop_token& stop) override {
    Transfer refusal;
    const UniqueFd file = open(key, refusal);
    if (!file) return refusal;
    text.clear();
    const int reason = read_pieces(file.value(), 0, stop, [&](std::string_view piece) {
      text += piece;
      return text.size() <= longest;
    });
    if (reason != 0) return unreadable(key, reason);
    if (text.size() > longest)
      return {.outcome = Outcome::refused,
              .why = fmt::format("{}: longer than {} bytes", place(key), longest)};
    return {};
  }

  Transfer fetch(const std::string& key, PartialBlob& blob, const std::stop_token& stop) override {
    Transfer refusal;
    const UniqueFd file = open(key, refusal);
    if (!file) return refusal;
    bool fits = true;
    const int reason = read_pieces(file.value(), blob.size(), stop, [&](std::string_view piece) {
      return fits = blob.append(piece);
    });
    if (reason != 0) return unreadable(key, reason);
    if (fits && blob.size() == blob.wanted()) return {};
    return {.outcome = Outcome::refused,
            .why = fmt::format("{}: does not have the {} bytes of the manifest", place(key),
                               blob.wanted())};
  }

  Transfer find(const std::string& key, std::uint64_t bytes, const std::stop_token&) override {
    struct stat status = {};
    if (::stat(place(key).c_str(), &status) != 0) return not_opened(key, errno);
    if (!S_ISREG(status.st_mode) || static_cast<std::uint64_t>(status.st_size) != bytes)
      return {.outcome = Outcome::missing, .why = place(key) + ": another size"};
    return {};
  }

  Transfer find_content(const std::string& key, std::uint64_t bytes, const std::string& sha256,
                        const std::stop_token& stop) override {
    Transfer found = find(key, bytes, stop);
    if (found.outcome != Outcome::done) return found;
    try {
      if (sha256_file(place(key)) == sha256) return found;
    } catch (const Error& error) {  // one that the disk does not give back is replaced
      return {.outcome = Outcome::missing, .why = error.message()};
    }
    return {.outcome = Outcome::missing, .why = place(key) + ": another SHA-256"};
  }

  Transfer put_file(const std::string& key, const fs::path& file, const std::string& sha256,
                    const std::stop_token& stop) override {
    const UniqueFd from = open_input(file);
    const auto check = [&](const fs::path& written) {
      if (sha256_file(written) != sha256)
        throw Error(Code::failed, file.native() + " was changed while it was copied");
    };
    write(key, check, [&](int to, const fs::path& shown) {
      const int reason = read_pieces(from.value(), 0, stop, [&](std::string_view piece) {
        write_all(to, piece, shown);
        return true;
      });
      if (reason != 0)
        throw Error(Code::failed, file.native() + " cannot be read: " + system_message(reason));
    });
    return {};
  }

  Transfer put_text(const std::string& key, const std::string& text,
                    const std::stop_token&) override {
    write(
        key, [](const fs::path&) {},
        [&](int to, const fs::path& shown) { write_all(to, text, shown); });
    return {};
  }

 private:
  std::string place(const std::string& key) const { return (folder_ / key).native(); }
  // Nothing, and why. A pipe would wait for its writer, deaf to a request to stop.
  UniqueFd open(const std::string& key, Transfer& refusal) const {
    UniqueFd file(::open(place(key).c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
    struct stat status = {};
    if (!file || ::fstat(file.value(), &status) != 0) {
      refusal = not_opened(key, errno);
      return {};
    }
    if (S_ISREG(status.st_mode)) return file;
    refusal = {.outcome = Outcome::refused, .why = place(key) + ": is not a regular file"};
    return {};
  }

  Transfer not_opened(const std::string& key, int reason) const {
    const bool missing = reason == ENOENT || reason == ENOTDIR;
    return {.outcome = missing ? Outcome::missing : Outcome::refused,
            .why = place(key) + ": " + system_message(reason)};
  }
  Transfer unreadable(const std::string& key, int reason) const {
    return {.outcome = Outcome::again, .why = place(key) + ": " + system_message(reason)};
  }

  // `check` looks at what was written before it appears.
  template <class Check, class Write>
  void write(const std::string& key, const Check& check, const Write& write) {
    const fs::path target = place(key);
    std::error_code error;
    fs::create_directories(target.parent_path(), error);
    if (error)
      throw Error(Code::failed,
                  target.parent_path().native() + " cannot be made: " + error.message());
    PartialPath partial({.target = target, .overwrite = true});
    const UniqueFd file(::open(partial.path().c_str(), O_WRONLY | O_CLOEXEC));
    if (!file)
      throw Error(Code::failed, target.native() + " cannot be written: " + system_message(errno));
    write(file.value(), target);
    check(partial.path());
    partial.commit();
  }

  fs::path folder_;
  std::string name_;
};

}  // namespace

std::unique_ptr<ArtifactSource> folder_source(const fs::path& folder) {
  return std::make_unique<FolderSource>(folder);
}

}  // namespace navtalk
