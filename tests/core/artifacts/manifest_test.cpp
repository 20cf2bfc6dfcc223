#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include "core/artifacts/manifest.h"
#include "tests/core/artifacts/store_fixture.h"
#include "tests/core/expect_error.h"

using namespace navtalk;
using nlohmann::json;
using test::expect_error;
using test::manifest_of;

namespace {

json good_manifest() {
  return json::parse(manifest_text(manifest_of("m", {{"a/b.bin", "one"}, {"c.json", "two"}})));
}

void expect_refused(const json& manifest, const std::string& why) {
  expect_error(Code::invalid, {why},
               [&] { parse_manifest(manifest.dump(), ArtifactKind::model, "m"); });
}

}  // namespace

TEST_CASE("a manifest of a model store survives being written") {
  const ArtifactManifest manifest = manifest_of("m", {{"a/b.bin", "one"}, {"c.json", "two"}});
  CHECK(parse_manifest(manifest_text(manifest), ArtifactKind::model, "m") == manifest);
  CHECK(manifest.bytes() == 6);
}

TEST_CASE("a manifest that leads elsewhere or fits nothing is refused with what is wrong") {
  CHECK_NOTHROW(parse_manifest(good_manifest().dump(), ArtifactKind::model, "m"));
  for (const char* path : {"../x", "/etc/passwd", "a/../../x", "a//b", "a/", ".hidden", "a b",
                           "a\\b", "", "a/.git", "nul\n"}) {
    json manifest = good_manifest();
    manifest["files"][0]["path"] = path;
    expect_refused(manifest, "names the file");
    manifest = good_manifest();
    manifest["files"][0]["key"] = std::string(path).empty() ? "../" : path;
    expect_refused(manifest, "\"key\"");
  }
  const auto changed = [](const char* key, const json& value) {
    json manifest = good_manifest();
    manifest["files"][0][key] = value;
    return manifest;
  };
  expect_refused(changed("sha256", "abc"), "64 lower-case");
  expect_refused(changed("sha256", std::string(64, 'G')), "64 lower-case");
  expect_refused(changed("bytes", 0), "gives a/b.bin 0 bytes");
  expect_refused(changed("bytes", -1), "whole number");
  expect_refused(changed("bytes", 1.5), "whole number");
  expect_refused(changed("path", "c.json"), "c.json twice");
  expect_refused(changed("path", "c.json/x"), "as a file and as a folder");
  json manifest = good_manifest();
  manifest["files"] = json::array();
  expect_refused(manifest, "a list of 1 to");
  manifest = good_manifest();
  manifest["name"] = "other";
  expect_refused(manifest, "that of the model \"other\"");
  manifest = good_manifest();
  manifest["kind"] = "avatar";
  expect_refused(manifest, "that of the avatar \"m\"");
  manifest = good_manifest();
  manifest["format_version"] = 2;
  expect_refused(manifest, "format version 2");
  manifest.erase("format");
  expect_refused(manifest, "lacks \"format\"");
  expect_refused(json::array(), "not a JSON object");
  expect_error(Code::invalid, {"not JSON"},
               [] { parse_manifest("<html>", ArtifactKind::model, "m"); });
  expect_error(Code::invalid, {"nested"}, [] {
    parse_manifest(std::string(1000, '[') + std::string(1000, ']'), ArtifactKind::model, "m");
  });
}

TEST_CASE("the digest of a manifest tells content, not where a store keeps it") {
  ArtifactManifest manifest = manifest_of("m", {{"a", "one"}, {"b", "two"}});
  const std::string digest = manifest.digest();
  std::swap(manifest.files[0], manifest.files[1]);
  manifest.files[0].key.clear();
  manifest.name = "n";
  CHECK(manifest.digest() == digest);
  manifest.files[0].path = "c";
  CHECK(manifest.digest() != digest);
}
