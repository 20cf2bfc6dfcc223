#include "core/artifacts/hub/hub_source.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <span>
#include <vector>

#include "core/artifacts/http_source.h"
#include "core/artifacts/hub/listing.h"
#include "core/artifacts/manifest.h"
#include "core/base/error.h"
#include "core/checkpoint/checkpoint.h"
#include "core/text/trim.h"

namespace navtalk {
namespace {

using Outcome = Transfer::Outcome;

constexpr const char* k_token = "NAVTALK_HUB_TOKEN";
constexpr std::size_t k_max_listing = std::size_t{4} << 20;  // bytes
// Of a file outside Git LFS, which is read whole to know its SHA-256.
constexpr std::size_t k_max_small = std::size_t{16} << 20;  // bytes

std::string hub_token(const SourceOptions& options) {
  std::string token(trim(options.variable ? options.variable(k_token) : ""));
  if (!std::ranges::all_of(token, [](char c) { return c > ' ' && c < '\x7f'; }))
    throw Error(Code::invalid, std::string(k_token) + " contains characters that are not allowed");
  return token;
}

std::unique_ptr<ArtifactSource> web(const std::string& url, const std::string& token,
                                    const SourceOptions& options) {
  HttpSourceOptions made{.name = url, .url = url, .stall_timeout = options.stall_timeout};
  if (!token.empty()) made.origin_headers.emplace_back("Authorization", "Bearer " + token);
  return http_source(std::move(made));
}

class HubSource : public ArtifactSource {
 public:
  HubSource(HubPlace place, const SourceOptions& options, const std::string& token)
      : place_(std::move(place)),
        content_(web(place_.content_url(), token, options)),
        tree_(web(place_.tree_url(), token, options)),
        hint_(token.empty() ? fmt::format(": set {} for a private repository", k_token) : "") {}

  const std::string& name() const override { return content_->name(); }

  Transfer read(const std::string& key, std::size_t longest, std::string& text,
                const std::stop_token& stop) override {
    Transfer transfer = content_->read(key, longest, text, stop);
    const bool own = key == manifest_key(ArtifactKind::model, place_.repository);
    if (transfer.outcome != Outcome::missing || !own) return hinted(std::move(transfer));
    std::vector<HubFile> files;
    transfer = list(files, stop);
    if (transfer.outcome != Outcome::done) return transfer;
    return describe(files, text, stop);
  }

  Transfer fetch(const std::string& key, PartialBlob& blob, const std::stop_token& stop) override {
    return hinted(content_->fetch(key, blob, stop));
  }
  std::unique_ptr<ArtifactSource> another() const override { return content_->another(); }

  // As the list has it: where content is redirected to may know no HEAD.
  Transfer find(const std::string& key, std::uint64_t bytes, const std::stop_token& stop) override {
    std::vector<HubFile> files;
    Transfer transfer = list(files, stop);
    if (transfer.outcome != Outcome::done) return transfer;
    const bool there = std::ranges::any_of(
        files, [&](const HubFile& file) { return file.path == key && file.bytes == bytes; });
    if (there) return {};
    return {.outcome = Outcome::missing, .why = name() + "/" + key + ": not there in that size"};
  }

  Transfer put_file(const std::string&, const std::filesystem::path&, const std::string&,
                    const std::stop_token&) override {
    return read_only();
  }
  Transfer put_text(const std::string&, const std::string&, const std::stop_token&) override {
    return read_only();
  }

 private:
  Transfer read_only() const {
    return {.outcome = Outcome::refused,
            .why = name() + " can only be read: push to s3://BUCKET/PREFIX or a folder"};
  }
  Transfer refused(const std::string& why) const {
    return {.outcome = Outcome::refused, .why = name() + ": " + why};
  }
  Transfer hinted(Transfer transfer) const {
    if (transfer.status == 401 || transfer.status == 403) transfer.why += hint_;
    return transfer;
  }

  Transfer list(std::vector<HubFile>& files, const std::stop_token& stop) {
    std::string text;
    Transfer transfer =
        hinted(tree_->read(place_.revision + "?recursive=true", k_max_listing, text, stop));
    if (transfer.outcome != Outcome::done) return transfer;
    if (transfer.more) return refused("the repository has more files than the hub lists at once");
    try {
      files = parse_hub_listing(text);
    } catch (const Error& error) {
      return refused(error.message());
    }
    if (files.empty()) return refused("the repository has no files");
    return transfer;
  }

  // The manifest of the files.
  Transfer describe(const std::vector<HubFile>& files, std::string& text,
                    const std::stop_token& stop) {
    ArtifactManifest manifest{.kind = ArtifactKind::model, .name = place_.repository};
    for (const HubFile& file : files) {
      std::string sum = file.sha256;
      if (sum.empty()) {
        Transfer transfer = sum_small(file, sum, stop);
        if (transfer.outcome != Outcome::done) return transfer;
      }
      manifest.files.push_back(
          {.path = file.path, .bytes = file.bytes, .sha256 = sum, .key = file.path});
    }
    std::ranges::sort(manifest.files, {}, &ArtifactFile::path);
    text = manifest_text(manifest);
    return {};
  }

  // The hub gives no SHA-256 of a file outside Git LFS, so that one is read and compared with its id of git.
  Transfer sum_small(const HubFile& file, std::string& sum, const std::stop_token& stop) {
    if (const auto known = sums_.find(file.git_id); known != sums_.end()) {
      sum = known->second;
      return {};
    }
    if (file.bytes > k_max_small)
      return refused(fmt::format("{} has {} bytes and no SHA-256", file.path, file.bytes));
    std::string bytes;
    Transfer transfer = hinted(content_->read(file.path, k_max_small, bytes, stop));
    if (transfer.outcome != Outcome::done) return transfer;
    if (bytes.size() != file.bytes || git_blob_id(bytes) != file.git_id)
      return {.outcome = Outcome::again,
              .why = fmt::format("{}/{}: the bytes do not have the git id of the hub's list",
                                 name(), file.path)};
    sum = sha256(std::as_bytes(std::span(bytes.data(), bytes.size())));
    sums_[file.git_id] = sum;
    return {};
  }

  const HubPlace place_;
  const std::unique_ptr<ArtifactSource> content_, tree_;
  const std::string hint_;
  std::map<std::string, std::string> sums_{};  // SHA-256 of verified files, by their id of git
};

}  // namespace

std::string HubPlace::content_url() const {
  return fmt::format("{}/{}/{}/resolve/{}", hub, organisation, repository, revision);
}

std::string HubPlace::tree_url() const {
  return fmt::format("{}/api/models/{}/{}/tree", hub, organisation, repository);
}

std::optional<HubPlace> hub_place(const std::string& url) {
  std::string_view rest = url;
  const auto take = [&]() -> std::string {
    const std::size_t slash = rest.rfind('/');
    if (slash == rest.npos) return "";
    const std::string name(rest.substr(slash + 1));
    rest = rest.substr(0, slash);
    return name;
  };
  HubPlace place{.revision = take()};
  if (take() != "resolve") return std::nullopt;
  place.repository = take();
  place.organisation = take();
  place.hub = rest;
  const bool complete = place.hub.find("://") != std::string::npos && !place.hub.ends_with('/') &&
                        !place.revision.empty() && !place.organisation.empty() &&
                        valid_artifact_name(place.repository);
  if (!complete) return std::nullopt;
  return place;
}

std::unique_ptr<ArtifactSource> hub_source(const HubPlace& place, const SourceOptions& options) {
  return std::make_unique<HubSource>(place, options, hub_token(options));
}

}  // namespace navtalk
