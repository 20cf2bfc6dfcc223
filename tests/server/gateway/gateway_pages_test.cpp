// The web page, the client's files and the avatars' previews, from the gateway.
#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>

#include "server/gateway/pages/byte_range.h"
#include "server/gateway/pages/page_files.h"
#include "tests/server/gateway/gateway_pool.h"

using namespace navtalk;
using namespace navtalk::server;
using namespace navtalk::tests;

namespace {

std::string header_of(const Got& got, const std::string& name) {
  const auto found = got.headers.find(name);
  return found == got.headers.end() ? "" : found->second;
}

void write(const std::filesystem::path& file, const std::string& content) {
  std::ofstream(file, std::ios::binary) << content;
}

}  // namespace

TEST_CASE("a gateway serves the page and every file of the client, each with its type") {
  GatewayPool pool;
  const Got page = ask("GET", pool.url() + "/");
  CHECK(page.status == 200);
  CHECK(header_of(page, "content-type") == "text/html; charset=utf-8");
  CHECK_THAT(page.text, Catch::Contains("/client/page/main.js"));
  for (const PageFile& file : page_files()) {
    const Got got = ask("GET", pool.url() + "/client/" + std::string(file.name));
    INFO(file.name);
    CHECK(got.status == 200);
    CHECK(got.text == file.content);
    CHECK(header_of(got, "content-type") == file.content_type);
  }
  CHECK_THAT(ask("GET", pool.url() + "/operator").text, Catch::Contains("Operator key"));
  CHECK(ask("GET", pool.url() + "/client/").status == 404);
  CHECK(ask("GET", pool.url() + "/client/../CMakeLists.txt").status == 404);
  CHECK(ask("GET", pool.url() + "/client/%2e%2e/CMakeLists.txt").status == 404);
  CHECK(ask("POST", pool.url() + "/").status == 405);
}

TEST_CASE("a page runs nothing of elsewhere, is not framed, and is not guessed at") {
  GatewayPool pool;
  const Got page = ask("GET", pool.url() + "/");
  const std::string policy = header_of(page, "content-security-policy");
  CHECK_THAT(policy, Catch::Contains("default-src 'none'"));
  CHECK_THAT(policy, Catch::Contains("script-src 'self'"));
  CHECK_THAT(policy, Catch::Contains("frame-ancestors 'none'"));
  CHECK_THAT(policy, !Catch::Contains("unsafe"));
  CHECK(header_of(page, "x-content-type-options") == "nosniff");
  CHECK(header_of(page, "x-frame-options") == "DENY");
  CHECK_THAT(page.text, !Catch::Contains("style=") && !Catch::Contains("http://") &&
                            !Catch::Contains("https://"));
  for (const PageFile& file : page_files()) {
    if (!file.name.ends_with(".html")) continue;
    INFO(file.name);
    // A script in the page has the attribute src; one within it would be refused by the policy.
    for (std::size_t at = file.content.find("<script"); at != std::string_view::npos;
         at = file.content.find("<script", at + 1)) {
      CHECK(file.content.substr(at, file.content.find('>', at) - at).find(" src=") !=
            std::string_view::npos);
    }
  }
}

TEST_CASE("a browser that has a file is told so, and gets no second copy") {
  GatewayPool pool;
  const Got first = ask("GET", pool.url() + "/client/navtalk.js");
  const std::string etag = header_of(first, "etag");
  REQUIRE(!etag.empty());
  CHECK(header_of(first, "cache-control") == "no-cache");
  const Got again =
      ask("GET", pool.url() + "/client/navtalk.js", "", {{"If-None-Match", "W/\"x\", " + etag}});
  CHECK(again.status == 304);
  CHECK(again.text.empty());
  CHECK(
      ask("GET", pool.url() + "/client/navtalk.js", "", {{"If-None-Match", "\"other\""}}).status ==
      200);
}

TEST_CASE("a gateway lists the avatars, and sends their previews whole and in parts") {
  const TemporaryDirectory folder;
  const std::string film = "0123456789";
  write(folder / "frames.mp4", film);
  write(folder / "secret", "of the operator");
  std::filesystem::create_symlink(folder / "secret", folder / "link.mp4");
  GatewayOptions options;
  options.avatars = [&folder] {
    return std::vector<ServedAvatar>{
        {.id = "ada",
         .width = 704,
         .height = 640,
         .fps = FrameRate(30000, 1001),
         .loop = true,
         .voice = "en-us+f3",
         .preview = folder / "frames.mp4"},
        {.id = "bob", .width = 2, .height = 2, .preview = folder / "absent.mp4"},
        {.id = "eve", .width = 2, .height = 2, .preview = folder / "link.mp4"}};
  };
  GatewayPool pool({}, options);
  const Got list = ask("GET", pool.url() + "/v1/avatars");
  CHECK(list.status == 200);
  REQUIRE(list.body.at("avatars").size() == 3);
  CHECK(list.body["avatars"][0] ==
        nlohmann::json::parse(R"({"id": "ada", "width": 704, "height": 640, "fps": "30000/1001",
          "loop": true, "voice": "en-us+f3", "preview": "/v1/avatars/ada/preview"})"));
  CHECK(list.body["avatars"][1]["preview"].is_null());
  CHECK(list.body["avatars"][1]["voice"].is_null());
  CHECK(list.body["avatars"][2]["preview"].is_null());

  const std::string url = pool.url() + "/v1/avatars/ada/preview";
  const Got whole = ask("GET", url);
  CHECK(whole.status == 200);
  CHECK(whole.text == film);
  CHECK(header_of(whole, "content-type") == "video/mp4");
  CHECK(header_of(whole, "accept-ranges") == "bytes");
  const Got part = ask("GET", url, "", {{"Range", "bytes=2-4"}});
  CHECK(part.status == 206);
  CHECK(part.text == "234");
  CHECK(header_of(part, "content-range") == "bytes 2-4/10");
  CHECK(ask("GET", url, "", {{"Range", "bytes=10-"}}).status == 416);
  CHECK(ask("GET", url, "", {{"If-None-Match", header_of(whole, "etag")}}).status == 304);
  // The part of a file that is another one now would not fit what the browser has.
  CHECK(ask("GET", url, "", {{"Range", "bytes=2-4"}, {"If-Range", "\"old\""}}).text == film);

  for (const char* const none : {"bob", "eve", "nobody", "..", "%2e%2e", "..%2fada"}) {
    INFO(none);
    CHECK(ask("GET", pool.url() + "/v1/avatars/" + none + "/preview").status == 404);
  }
}

TEST_CASE("a file that is too large for a preview is not one") {
  const TemporaryDirectory folder;
  write(folder / "frames.mp4", "");
  std::filesystem::resize_file(folder / "frames.mp4", (8 << 20) + 1);
  GatewayOptions options;
  options.avatars = [&folder] {
    return std::vector<ServedAvatar>{{.id = "ada", .preview = folder / "frames.mp4"}};
  };
  GatewayPool pool({}, options);
  CHECK(ask("GET", pool.url() + "/v1/avatars").body["avatars"][0]["preview"].is_null());
  CHECK(ask("GET", pool.url() + "/v1/avatars/ada/preview").status == 404);
}

TEST_CASE("a Range header means the bytes that RFC 9110 says") {
  const auto range = [](const char* header) {
    const WantedBytes wanted = wanted_bytes(header, 100);
    const auto* part = std::get_if<ByteRange>(&wanted);
    return part ? *part : ByteRange{999, 999};
  };
  CHECK(range("bytes=0-0") == ByteRange{0, 0});
  CHECK(range("bytes=0-") == ByteRange{0, 99});
  CHECK(range("bytes=40-1000") == ByteRange{40, 99});
  CHECK(range("bytes=-7") == ByteRange{93, 99});
  CHECK(range("bytes=-700") == ByteRange{0, 99});
  for (const char* const none : {"bytes=100-", "bytes=-0"}) {
    INFO(none);
    CHECK(std::holds_alternative<NoSuchRange>(wanted_bytes(none, 100)));
  }
  for (const char* const whole : {"", "bytes=", "bytes=-", "bytes=5", "bytes=5-4", "bytes=a-b",
                                  "bytes=0-1,5-6", "lines=0-1", "bytes=+1-2", "bytes=1-2x"}) {
    INFO(whole);
    CHECK(std::holds_alternative<WholeFile>(wanted_bytes(whole, 100)));
  }
}
