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
         .actions = {"wave"},
         .preview = folder / "frames.mp4",
         .preview_part = PreviewPart{.from = 2.5, .to = 4}},
        {.id = "bob",
         .width = 2,
         .height = 2,
         .preview = folder / "absent.mp4",
         .preview_part = PreviewPart{.to = 1}},
        {.id = "eve", .width = 2, .height = 2, .preview = folder / "link.mp4"}};
  };
  GatewayPool pool({}, options);
  const Got list = ask("GET", pool.url() + "/v1/avatars");
  CHECK(list.status == 200);
  REQUIRE(list.body.at("avatars").size() == 3);
  CHECK(list.body["avatars"][0] ==
        nlohmann::json::parse(R"({"id": "ada", "width": 704, "height": 640, "fps": "30000/1001",
          "loop": true, "voice": "en-us+f3", "actions": ["wave"], "preview": "/v1/avatars/ada/preview",
          "preview_part": [2.5, 4.0]})"));
  CHECK(list.body["avatars"][1]["preview"].is_null());
  CHECK(list.body["avatars"][1]["preview_part"].is_null());  // of a file that is not there
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

TEST_CASE("a large preview is sent whole and in parts, and not from a file that changed") {
  const TemporaryDirectory folder;
  const std::filesystem::path file = folder / "frames.mp4";
  std::string film(std::size_t{9} << 20, '\0');  // many pieces
  for (std::size_t i = 0; i < film.size(); ++i) film[i] = static_cast<char>(i * 2654435761U >> 24);
  write(file, film);
  GatewayOptions options;
  options.avatars = [&file] { return std::vector<ServedAvatar>{{.id = "ada", .preview = file}}; };
  GatewayPool pool({}, options);
  CHECK(ask("GET", pool.url() + "/v1/avatars").body["avatars"][0]["preview"].is_string());
  const std::string url = pool.url() + "/v1/avatars/ada/preview";
  const Got whole = ask("GET", url);
  CHECK(whole.status == 200);
  CHECK((whole.text == film));
  CHECK(header_of(whole, "content-length") == std::to_string(film.size()));
  const Got head = ask("HEAD", url);
  CHECK(head.status == 200);
  CHECK(head.text.empty());
  CHECK(header_of(head, "content-length") == std::to_string(film.size()));
  const Got end = ask("GET", url, "", {{"Range", "bytes=300000-"}});
  CHECK(end.status == 206);
  CHECK((end.text == film.substr(300000)));
  CHECK(header_of(end, "content-range") == "bytes 300000-9437183/9437184");
  const std::string etag = header_of(whole, "etag");
  CHECK(ask("GET", url, "", {{"Range", "bytes=5-6"}, {"If-Range", etag}}).status == 206);
  CHECK(ask("GET", url, "", {{"Range", "bytes=5-6"}, {"If-Range", "W/" + etag}}).status == 200);

  // A client that has not read all of it sees the connection end, not a mixture.
  RawClient slow(pool.url(), 4096);
  slow.send("GET /v1/avatars/ada/preview HTTP/1.1\r\nHost: localhost\r\n\r\n");
  slow.receive_until("\r\n\r\n");
  std::fstream(file, std::ios::in | std::ios::out | std::ios::binary) << "another film";
  CHECK(slow.receive_all().size() < film.size());
  const Got other = ask("GET", url, "", {{"If-Range", etag}, {"Range", "bytes=0-1"}});
  CHECK(other.status == 200);
  CHECK(other.text.starts_with("another film"));
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
  CHECK(range("bytes=99-18446744073709551615") == ByteRange{99, 99});
  CHECK(range("bytes=-18446744073709551615") == ByteRange{0, 99});
  for (const char* const none : {"bytes=100-", "bytes=-0", "bytes=18446744073709551615-"}) {
    INFO(none);
    CHECK(std::holds_alternative<NoSuchRange>(wanted_bytes(none, 100)));
  }
  for (const char* const whole : {"",
                                  "bytes=",
                                  "bytes=-",
                                  "bytes=5",
                                  "bytes=5-4",
                                  "bytes=a-b",
                                  "bytes=0-1,5-6",
                                  "lines=0-1",
                                  "bytes=+1-2",
                                  "bytes=1-2x",
                                  "bytes=18446744073709551616-",
                                  "bytes=0-18446744073709551616",
                                  "bytes=-18446744073709551616",
                                  "bytes=--1",
                                  "bytes=-1-2",
                                  "bytes=1--2",
                                  "bytes=0x1-2",
                                  "bytes=1 -2",
                                  "bytes= 1-2",
                                  "bytes=1-2,",
                                  "bytes=1.5-2",
                                  "bytes=1e1-20",
                                  "bytes",
                                  "=1-2"}) {
    INFO(whole);
    CHECK(std::holds_alternative<WholeFile>(wanted_bytes(whole, 100)));
  }
}

TEST_CASE("no Range header asks for bytes that are not there") {
  // Whatever signs stand where: a small generator, so that a failure can be repeated.
  constexpr std::string_view k_signs = "bytes=-,0019 \t+x";
  std::uint32_t state = 1;
  for (int i = 0; i < 200'000; ++i) {
    std::string header = i % 2 == 0 ? "bytes=" : "";
    const auto next = [&state] { return (state = state * 1664525 + 1013904223) >> 16; };
    for (std::uint32_t length = next() % 24; length > 0; --length)
      header += k_signs[next() % k_signs.size()];
    const std::uint64_t size = next() % 300;
    const WantedBytes wanted = wanted_bytes(header, size);
    const auto* const part = std::get_if<ByteRange>(&wanted);
    const bool there = part == nullptr || (part->first <= part->last && part->last < size);
    INFO(header << " of " << size);
    REQUIRE(there);
  }
}
