#include "cmd/terminal/output.h"

#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <nlohmann/json.hpp>

#include "core/base/error.h"
#include "core/text/printable.h"

namespace navtalk::cmd {

void Output::write(std::string_view text) {
  constexpr std::size_t k_enough = 1 << 16;
  buffer_ += text;
  if (buffer_.size() >= k_enough) flush();
}

void Output::json(const nlohmann::ordered_json& object) {
  write(object.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n");
}

void Output::flush() {
  // Taken out first, so that text which cannot be written is not tried again on the way out.
  const std::string text = std::exchange(buffer_, {});
  for (std::size_t done = 0; done < text.size();) {
    const ssize_t written = ::write(descriptor_, text.data() + done, text.size() - done);
    if (written >= 0) {
      done += static_cast<std::size_t>(written);
    } else if (errno != EINTR) {
      throw Error(Code::failed,
                  std::string("cannot write to standard output: ") + std::strerror(errno));
    }
  }
}

std::string counted(std::int64_t count, std::string_view noun) {
  return fmt::format("{} {}{}", count, noun, count == 1 ? "" : "s");
}

void put_path(nlohmann::ordered_json& object, const std::string& key,
              const std::filesystem::path& path) {
  object[key] = path.native();
  if (!is_utf8(path.native())) object[key + "_hex"] = hex(path.native());
}

}  // namespace navtalk::cmd
