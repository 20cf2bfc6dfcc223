// What a model store holds under one name: the files of a model or of an avatar, with their sizes and
// SHA-256. docs/model-store.md has the format. Plain values.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace navtalk {

enum class ArtifactKind { model, avatar };
std::string_view name(ArtifactKind kind);    // "model", "avatar": for messages
std::string_view folder(ArtifactKind kind);  // "models", "avatars": in the store

struct ArtifactFile {
  std::string path{};  // below the artifact's folder: "musetalkV15/unet.pth"
  std::uint64_t bytes = 0;
  std::string sha256{};  // 64 lower-case hexadecimal digits
  std::string
      key{};  // of its content in the store; empty: it lies beside the manifest, under its path

  friend bool operator==(const ArtifactFile&, const ArtifactFile&) = default;
};

struct ArtifactManifest {
  ArtifactKind kind = ArtifactKind::model;
  std::string name{};
  std::vector<ArtifactFile> files{};

  std::uint64_t bytes() const;  // of all files
  // Identifies the content, wherever the store keeps it: SHA-256 of paths, sizes and sums.
  std::string digest() const;
  friend bool operator==(const ArtifactManifest&, const ArtifactManifest&) = default;
};

inline constexpr std::size_t k_max_manifest = std::size_t{1} << 20;  // bytes of its JSON

// 1 to 64 of A-Z a-z 0-9 . _ -, not starting with a dot or a dash, as avatar ids.
bool valid_artifact_name(std::string_view name);
bool valid_sha256(std::string_view text);  // 64 lower-case hexadecimal digits
// Of a file in an artifact, or of content in a store: names of A-Z a-z 0-9 . _ -, none of which starts
// with a dot, divided by slashes; 200 bytes at most.
bool valid_artifact_path(std::string_view path);
// The key of a name's manifest: "models/NAME/manifest.json".
std::string manifest_key(ArtifactKind kind, std::string_view name);
// The key of content that was pushed: "blobs/SHA256".
std::string blob_key(const std::string& sha256);
// The key of this file.
std::string key_of(const ArtifactManifest& manifest, const ArtifactFile& file);

// Error{invalid} says what is wrong: not JSON, another format, a name or path that leads elsewhere, a
// file that is listed twice, an invalid sum, another kind or name than the requested one.
ArtifactManifest parse_manifest(std::string_view text, ArtifactKind kind, std::string_view name);
std::string manifest_text(const ArtifactManifest& manifest);

}  // namespace navtalk
