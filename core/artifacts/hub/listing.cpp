#include "core/artifacts/hub/listing.h"

#include <fmt/format.h>
#include <openssl/evp.h>

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <utility>

#include "core/artifacts/manifest.h"
#include "core/base/check.h"
#include "core/base/cptr.h"
#include "core/base/error.h"
#include "core/log/log.h"
#include "core/text/bounded_json.h"
#include "core/text/printable.h"

namespace navtalk {
namespace {

constexpr std::size_t k_shown_path = 200;  // bytes

[[noreturn]] void refuse_listing(const std::string& why) {
  throw Error(Code::invalid, "the hub's list of files: " + why);
}

nlohmann::json parse_listing(std::string_view text) {
  auto parsed = parse_bounded(text, {.bytes = text.size(), .levels = 8});
  if (auto* value = std::get_if<nlohmann::json>(&parsed)) return std::move(*value);
  const bool deep = std::get<JsonRefusal>(parsed).why == JsonRefusal::Why::too_deep;
  refuse_listing(deep ? "it is nested too deeply" : "it is not JSON");
}

std::string text_of(const nlohmann::json& object, const char* key) {
  const auto found = object.find(key);
  if (found == object.end() || !found->is_string())
    refuse_listing(fmt::format("an entry has no \"{}\"", key));
  return found->get<std::string>();
}

std::uint64_t size_of(const nlohmann::json& object, const std::string& shown) {
  const auto found = object.find("size");
  if (found == object.end() || !found->is_number_unsigned())
    refuse_listing(shown + " has no \"size\"");
  return found->get<std::uint64_t>();
}

bool leaves_folder(std::string_view path) {
  for (;;) {
    const std::size_t slash = std::min(path.find('/'), path.size());
    const std::string_view name = path.substr(0, slash);
    if (name.empty() || name == "." || name == "..") return true;
    if (slash == path.size()) return false;
    path.remove_prefix(slash + 1);
  }
}

bool is_git_id(std::string_view text) {
  return text.size() == 40 && text.find_first_not_of("0123456789abcdef") == text.npos;
}

HubFile read_hub_file(const nlohmann::json& object) {
  HubFile file{.path = text_of(object, "path")};
  const std::string shown = '"' + printable_start(file.path, k_shown_path) + '"';
  if (leaves_folder(file.path) ||
      file.path.find_first_of(std::string_view("\\\0", 2)) != std::string::npos)
    refuse_listing(shown + " leads out of the folder");
  file.bytes = size_of(object, shown);
  const auto lfs = object.find("lfs");
  if (lfs == object.end() || lfs->is_null()) {
    file.git_id = text_of(object, "oid");
    if (!is_git_id(file.git_id)) refuse_listing(shown + " has an \"oid\" that git does not make");
    return file;
  }
  if (!lfs->is_object()) refuse_listing(shown + " has an \"lfs\" that is not an object");
  file.sha256 = text_of(*lfs, "oid");
  if (!valid_sha256(file.sha256)) refuse_listing(shown + " has an \"oid\" that is not a SHA-256");
  if (size_of(*lfs, shown) != file.bytes) refuse_listing(shown + " has two sizes");
  return file;
}

bool hidden(std::string_view path) { return path.starts_with('.') || path.find("/.") != path.npos; }

}  // namespace

std::vector<HubFile> parse_hub_listing(std::string_view json) {
  const nlohmann::json root = parse_listing(json);
  if (!root.is_array()) refuse_listing("it is not a list");
  std::vector<HubFile> files;
  for (const nlohmann::json& object : root) {
    if (!object.is_object()) refuse_listing("an entry is not an object");
    if (text_of(object, "type") != "file") continue;
    HubFile file = read_hub_file(object);
    if (file.bytes == 0 || hidden(file.path)) continue;
    if (valid_artifact_path(file.path)) {
      files.push_back(std::move(file));
    } else {
      log::warn(
          "a file of the hub's repository is left out: its name has other characters than A-Z, "
          "a-z, "
          "0-9, '.', '_' and '-', or is too long",
          {{"file", printable_start(file.path, k_shown_path)}});
    }
  }
  return files;
}

std::string git_blob_id(std::string_view bytes) {
  const std::string head = fmt::format("blob {}", bytes.size());
  const CPtr<EVP_MD_CTX, EVP_MD_CTX_free> context(EVP_MD_CTX_new());
  std::array<unsigned char, EVP_MAX_MD_SIZE> digest{};
  unsigned length = 0;
  NAVTALK_CHECK(context && EVP_DigestInit_ex(context.get(), EVP_sha1(), nullptr) == 1 &&
                EVP_DigestUpdate(context.get(), head.c_str(), head.size() + 1) == 1 &&
                EVP_DigestUpdate(context.get(), bytes.data(), bytes.size()) == 1 &&
                EVP_DigestFinal_ex(context.get(), digest.data(), &length) == 1);
  std::string hex;
  for (unsigned i = 0; i < length; ++i) hex += fmt::format("{:02x}", digest[i]);
  return hex;
}

}  // namespace navtalk
