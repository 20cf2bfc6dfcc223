#include "core/artifacts/manifest.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>
#include <span>
#include <utility>

#include "core/base/error.h"
#include "core/checkpoint/checkpoint.h"
#include "core/text/bounded_json.h"
#include "core/text/printable.h"

namespace navtalk {
namespace {

constexpr const char* k_format = "navtalk-artifact";
constexpr int k_format_version = 1;
constexpr std::size_t k_max_files = 1000;
constexpr std::size_t k_max_path = 200;                       // bytes
constexpr std::uint64_t k_max_file = std::uint64_t{1} << 40;  // bytes

bool allowed(char c) {
  return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '.' ||
         c == '_' || c == '-';
}

// A name of a file or folder that means itself everywhere: in a URL, in a bucket and on a disk.
bool valid_segment(std::string_view text) {
  return !text.empty() && text[0] != '.' && std::all_of(text.begin(), text.end(), allowed);
}

[[noreturn]] void refuse(const std::string& why) { throw Error(Code::invalid, why); }

template <class T>
T value(const nlohmann::json& object, const char* key) {
  const auto found = object.find(key);
  if (found == object.end()) refuse(fmt::format("the manifest lacks \"{}\"", key));
  if constexpr (std::is_same_v<T, std::string>) {
    if (!found->is_string()) refuse(fmt::format("the manifest's \"{}\" is not a string", key));
  } else {
    if (!found->is_number_unsigned())
      refuse(fmt::format("the manifest's \"{}\" is not a whole number", key));
  }
  return found->get<T>();
}

ArtifactFile read_entry(const nlohmann::json& object) {
  if (!object.is_object()) refuse("an entry of the manifest's \"files\" is not an object");
  ArtifactFile file{.path = value<std::string>(object, "path"),
                    .bytes = value<std::uint64_t>(object, "bytes"),
                    .sha256 = value<std::string>(object, "sha256"),
                    .key = object.contains("key") ? value<std::string>(object, "key") : ""};
  const std::string shown = printable_start(file.path, k_max_path);
  if (!valid_artifact_path(file.path)) {
    refuse(
        fmt::format("the manifest names the file \"{}\": only A-Z, a-z, 0-9, '.', '_' and '-' "
                    "are allowed in names, none starts with '.', and folders are divided by '/'",
                    shown));
  }
  if (file.bytes == 0 || file.bytes > k_max_file)
    refuse(fmt::format("the manifest gives {} {} bytes", shown, file.bytes));
  if (!valid_sha256(file.sha256))
    refuse(fmt::format("the manifest's \"sha256\" of {} is not 64 lower-case hexadecimal digits",
                       shown));
  if (!file.key.empty() && !valid_artifact_path(file.key))
    refuse(fmt::format("the manifest's \"key\" of {} leads elsewhere", shown));
  return file;
}

// No name twice, and none that is a file here and a folder there.
void check_paths(const std::vector<ArtifactFile>& files) {
  std::set<std::string> names, folders;
  for (const ArtifactFile& file : files) {
    if (!names.insert(file.path).second)
      refuse(fmt::format("the manifest names {} twice", file.path));
    for (std::size_t at = 0; (at = file.path.find('/', at)) != std::string::npos; ++at)
      folders.insert(file.path.substr(0, at));
  }
  for (const std::string& folder : folders) {
    if (names.contains(folder))
      refuse(fmt::format("the manifest names {} as a file and as a folder", folder));
  }
}

nlohmann::json parse(std::string_view text) {
  using Why = JsonRefusal::Why;
  auto parsed = parse_bounded(text, {.bytes = k_max_manifest, .levels = 4});
  if (auto* value = std::get_if<nlohmann::json>(&parsed)) return std::move(*value);
  const Why why = std::get<JsonRefusal>(parsed).why;
  if (why == Why::too_large)
    refuse(fmt::format("the manifest has more than {} bytes", k_max_manifest));
  refuse(why == Why::too_deep ? "the manifest is nested too deeply" : "the manifest is not JSON");
}

std::string sum(const std::string& text) {
  return sha256(std::as_bytes(std::span(text.data(), text.size())));
}

}  // namespace

bool valid_artifact_path(std::string_view path) {
  if (path.empty() || path.size() > k_max_path) return false;
  for (;;) {
    const std::size_t slash = std::min(path.find('/'), path.size());
    if (!valid_segment(path.substr(0, slash))) return false;
    if (slash == path.size()) return true;
    path.remove_prefix(slash + 1);
  }
}

bool valid_sha256(std::string_view text) {
  return text.size() == 64 && text.find_first_not_of("0123456789abcdef") == text.npos;
}

std::string_view name(ArtifactKind kind) {
  return kind == ArtifactKind::model ? "model" : "avatar";
}

std::string_view folder(ArtifactKind kind) {
  return kind == ArtifactKind::model ? "models" : "avatars";
}

std::uint64_t ArtifactManifest::bytes() const {
  std::uint64_t all = 0;
  for (const ArtifactFile& file : files) all += file.bytes;
  return all;
}

std::string ArtifactManifest::digest() const {
  std::set<std::string> lines;
  for (const ArtifactFile& file : files)
    lines.insert(fmt::format("{} {} {}\n", file.sha256, file.bytes, file.path));
  std::string text;
  for (const std::string& line : lines) text += line;
  return sum(text);
}

bool valid_artifact_name(std::string_view name) {
  return name.size() <= 64 && valid_segment(name) && name[0] != '-';
}

std::string manifest_key(ArtifactKind kind, std::string_view name) {
  return fmt::format("{}/{}/manifest.json", folder(kind), name);
}

std::string blob_key(const std::string& sha256) { return "blobs/" + sha256; }

std::string key_of(const ArtifactManifest& manifest, const ArtifactFile& file) {
  if (!file.key.empty()) return file.key;
  return fmt::format("{}/{}/{}", folder(manifest.kind), manifest.name, file.path);
}

ArtifactManifest parse_manifest(std::string_view text, ArtifactKind kind, std::string_view name) {
  const nlohmann::json root = parse(text);
  if (!root.is_object()) refuse("the manifest is not a JSON object");
  if (value<std::string>(root, "format") != k_format)
    refuse(fmt::format("the manifest's \"format\" is not \"{}\"", k_format));
  const auto version = value<std::uint64_t>(root, "format_version");
  if (version != k_format_version)
    refuse(fmt::format("the manifest has the format version {}, and only {} is known", version,
                       k_format_version));
  ArtifactManifest manifest{.kind = kind, .name = std::string(name)};
  const auto other_kind = value<std::string>(root, "kind");
  const auto other_name = value<std::string>(root, "name");
  if (other_kind != navtalk::name(kind) || other_name != name) {
    refuse(fmt::format("the manifest is that of the {} \"{}\"", printable_start(other_kind, 64),
                       printable_start(other_name, 64)));
  }
  const auto files = root.find("files");
  if (files == root.end() || !files->is_array() || files->empty() || files->size() > k_max_files)
    refuse(fmt::format("the manifest's \"files\" is not a list of 1 to {} files", k_max_files));
  for (const nlohmann::json& object : *files) manifest.files.push_back(read_entry(object));
  check_paths(manifest.files);
  return manifest;
}

std::string manifest_text(const ArtifactManifest& manifest) {
  nlohmann::ordered_json files = nlohmann::ordered_json::array();
  for (const ArtifactFile& file : manifest.files) {
    nlohmann::ordered_json object = {
        {"path", file.path}, {"bytes", file.bytes}, {"sha256", file.sha256}};
    if (!file.key.empty()) object["key"] = file.key;
    files.push_back(std::move(object));
  }
  const nlohmann::ordered_json root = {{"format", k_format},
                                       {"format_version", k_format_version},
                                       {"kind", name(manifest.kind)},
                                       {"name", manifest.name},
                                       {"files", std::move(files)}};
  return root.dump(1) + "\n";
}

}  // namespace navtalk
