#include "server/gateway/jobs/job_request.h"

#include <catch2/catch.hpp>
#include <ctime>

#include "server/gateway/jobs/multipart.h"

using namespace navtalk;
using namespace navtalk::server;

namespace {

Request json(const std::string& body) {
  Request request{.method = "POST", .path = "/v1/jobs"};
  request.headers = {{"content-type", "application/json"}};
  request.body = body;
  return request;
}

Request form(const std::string& body) {
  Request request = json(body);
  request.headers = {{"content-type", "multipart/form-data; boundary=\"xx\""}};
  return request;
}

std::string part(const std::string& name, const std::string& content) {
  return "--xx\r\nContent-Type: a/b\r\ncontent-disposition: form-data; name=\"" + name +
         "\"; filename=\"f\"\r\n\r\n" + content + "\r\n";
}

void refused(const Request& request, const std::string& with) {
  CHECK_THROWS_WITH(parse_job_request(request), Catch::Contains(with));
}

}  // namespace

TEST_CASE("a job of a text has its options as infer names them") {
  Request request = json(
      R"({"avatar":"ada","text":"Hello.","voice":"en-us+f3","ssml":true,"priority":7,"duration":2.5,
          "output":{"format":"mkv","fps":"30000/1001","width":320,"crf":20,"sharpen":1.5,"match_colour":true}})");
  request.headers.emplace_back("idempotency-key", "k1");
  const JobRequest asked = parse_job_request(request);
  CHECK(asked.job.key == "k1");
  CHECK(asked.job.estimated);
  CHECK(asked.job.work.count() > 0);
  CHECK(asked.job.spec.text == "Hello.");
  CHECK(asked.job.spec.priority == 7);
  const VideoChoice choice = video_choice(asked.job.spec);
  CHECK(choice.format == "mkv");
  CHECK(choice.options == std::map<std::string, std::string>{{"fps", "30000/1001"},
                                                             {"size", "320"},
                                                             {"crf", "20"},
                                                             {"sharpen", "1.5"},
                                                             {"match-colour", "true"},
                                                             {"ssml", "true"},
                                                             {"duration", "2.5"}});
}

TEST_CASE("a key is printable ASCII, for a database refuses other bytes") {
  const auto with_key = [](const std::string& key) {
    Request request = json(R"({"avatar":"ada","text":"Hello."})");
    request.headers.emplace_back("idempotency-key", key);
    return request;
  };
  CHECK(parse_job_request(with_key("order 7 ~!")).job.key == "order 7 ~!");
  for (const char* const key : {"k\xc3\xa9", "k\xff", "a\tb", "a\x7f"})
    refused(with_key(key), "printable ASCII");
}

TEST_CASE("the digest of a request is of what was asked for, however it was sent") {
  const auto digest = [](const Request& request) {
    return request_digest(parse_job_request(request));
  };
  const std::string text = digest(json(R"({"avatar":"ada","text":"Hello."})"));
  CHECK(text.size() == 64);
  CHECK(digest(json(R"( {"text": "Hello.", "avatar": "ada"} )")) == text);
  CHECK(digest(json(R"({"avatar":"ada","text":"Hello!"})")) != text);
  CHECK(digest(json(R"({"avatar":"ada","text":"Hello.","output":{"width":320}})")) != text);
  const std::string url = R"({"avatar":"ada","audio_url":"http://a.example/1"})";
  CHECK(digest(json(R"({"avatar":"ada","audio_url":"http://a.example/2"})")) != digest(json(url)));
  const auto sent = [&](const std::string& audio) {
    return digest(form(part("job", R"({"avatar":"ada"})") + part("audio", audio) + "--xx--\r\n"));
  };
  CHECK(sent("one") == sent("one"));
  CHECK(sent("one") != sent("two"));
}

TEST_CASE("what a job cannot have is refused by its name") {
  refused(json("{"), "JSON");
  refused(json("[]"), "not a JSON object");
  refused(json(R"({"text":"a"})"), "avatar");
  refused(json(R"({"avatar":"ada"})"), "neither a text");
  refused(json(R"({"avatar":"ada","text":"a","voice":"../x"})"), "voice");
  refused(json(R"({"avatar":"ada","text":"a","voce":"x"})"), "voce");
  for (const char* fps :
       {"1e9", "0", "-25", "0.5", "241", R"("25/0")", R"("fast")", "true", "[25]"})
    refused(json(R"({"avatar":"ada","text":"a","output":{"fps":)" + std::string(fps) + "}}"),
            "output.fps is a rate from 1 to 240");
  refused(json(R"({"avatar":"ada","text":"a","priority":1000})"), "priority");
  refused(json(R"({"avatar":"ada","text":"a","priority":1.5})"), "whole");
  refused(json(R"({"avatar":"ada","text":"a","output":{"format":"exe"}})"), "output.format");
  refused(json(R"({"avatar":"ada","text":"a","output":{"subtitles":"/etc/x"}})"), "subtitles");
  refused(json(R"({"avatar":"ada","text":"a","output":{"width":4}})"), "output.width");
  refused(json(R"({"avatar":"ada","text":"a","output":{"text-file":"x"}})"), "text-file");
  refused(json(R"({"avatar":"ada","text":"a","audio_url":"http://x"})"), "leave one of them out");
  refused(json(R"({"avatar":"ada","audio_url":"file:///etc/passwd"})"), "http");
  refused(json(R"({"avatar":"ada","audio_url":"http://u:p@x/"})"), "password");
  refused(json(R"({"avatar":"ada","text":"a","webhook":"ftp://x"})"), "webhook: ");
  refused(json(R"({"avatar":"ada","audio_url":"http://x/","ssml":true})"), "need a text");
  refused(json(R"({"avatar":"ada","text":")" + std::string(100'001, 'a') + "\"}"), "longer");
}

TEST_CASE("what a worker would refuse is refused at once") {
  const auto with = [](const std::string& members) {
    return json(R"({"avatar":"ada","text":"a",)" + members + "}");
  };
  for (const char* rate : {"9", "500001"})
    refused(with(R"("output":{"bitrate":)" + std::string(rate) + "}"), "output.bitrate");
  CHECK_NOTHROW(parse_job_request(with(R"("output":{"bitrate":10})")));
  CHECK_NOTHROW(parse_job_request(with(R"("output":{"bitrate":500000})")));
  refused(with(R"("output":{"bitrate":400,"crf":20})"), "exclude each other");
  for (const char* format : {"gif", "webp"}) {
    refused(with(R"("output":{"crf":20,"format":")" + std::string(format) + "\"}"), "mp4, mov");
    refused(with(R"("output":{"bitrate":400,"format":")" + std::string(format) + "\"}"),
            "mp4, mov");
  }
  refused(with(R"("ssml":true,"output":{"subtitles":"burn"})"), "without ssml");
  refused(with(R"("output":{"format":"gif","fps":51})"), "50 at most");
  CHECK_NOTHROW(parse_job_request(with(R"("output":{"format":"gif","fps":50})")));
  CHECK_NOTHROW(parse_job_request(with(R"("output":{"format":"webp","fps":51})")));
  refused(with(R"("duration":0.5,"output":{"fps":1})"), "shorter than one frame");
  CHECK_NOTHROW(parse_job_request(with(R"("duration":1,"output":{"fps":1})")));
  refused(json(R"({"avatar":"ada","text":" \n\t"})"), "blanks");
}

TEST_CASE("speech that is too long for GIF and WebP is refused once its length is known") {
  for (const char* format : {"gif", "webp", "mp4"}) {
    JobRequest asked = parse_job_request(
        json(R"({"avatar":"ada","text":"a","output":{"format":")" + std::string(format) + "\"}}"));
    CHECK_NOTHROW(take_measured(asked, 60));
    if (std::string(format) == "mp4")
      CHECK_NOTHROW(take_measured(asked, 61));
    else
      CHECK_THROWS_WITH(take_measured(asked, 61), Catch::Contains("duration"));
  }
}

TEST_CASE("a part that begins behind the end of the speech is refused once that is known") {
  JobRequest asked = parse_job_request(json(R"({"avatar":"ada","text":"a","start":4})"));
  CHECK_NOTHROW(take_measured(asked, 4.5));
  CHECK(asked.job.work.count() * 60 == Approx(0.5));
  CHECK_THROWS_WITH(take_measured(asked, 4), Catch::Contains("behind the end"));
}

TEST_CASE("speech of which less than a frame is left is refused once its length is known") {
  const auto asked = [](const std::string& more) {
    return parse_job_request(json(R"({"avatar":"ada","text":"a")" + more + "}"));
  };
  JobRequest late = asked(R"(,"start":2.9999)");
  CHECK_THROWS_WITH(take_measured(late, 3), Catch::Contains("shorter than one frame of 0.0400 s"));
  CHECK_NOTHROW(take_measured(late, 3.04));
  JobRequest edge = asked(R"(,"start":2.96)");
  CHECK_NOTHROW(take_measured(edge, 3));
  JobRequest slow = asked(R"(,"start":2.5,"output":{"fps":1})");
  CHECK_THROWS_WITH(take_measured(slow, 3), Catch::Contains("shorter than one frame of 1.0000 s"));
  CHECK_NOTHROW(take_measured(slow, 3.5));
  JobRequest fast = asked(R"(,"start":2.99,"output":{"fps":200})");
  CHECK_NOTHROW(take_measured(fast, 3));
  JobRequest nothing = asked("");
  CHECK_THROWS_WITH(take_measured(nothing, 0.01), Catch::Contains("shorter than one frame"));
}

TEST_CASE("a job's JSON is short and flat, whatever else it holds") {
  const auto nested = [](std::size_t levels) {
    return json(R"({"avatar":"ada","text":"a","output":{"fps":)" + std::string(levels, '[') +
                std::string(levels, ']') + "}}");
  };
  refused(nested(3), "output.fps is a rate");
  refused(nested(100), "deeper");
  refused(nested(400'000), "deeper");
  refused(json(R"({"avatar":"ada","text":"a")" + std::string(1 << 20, ' ') + "}"), "1048576 bytes");
  const std::string url = "http://a.example/" + std::string(2048, 'a');
  refused(json(R"({"avatar":"ada","text":"a","webhook":")" + url + "\"}"), "webhook is longer");
  refused(json(R"({"avatar":"ada","audio_url":")" + url + "\"}"), "audio_url is longer");
  refused(json(R"({"avatar":")" + std::string(65, 'a') + R"(","text":"a"})"), "avatar is longer");
}

TEST_CASE("a member that a job has twice is refused by its name") {
  refused(json(R"({"avatar":"ada","text":"a","text":"b"})"), "the member 'text' twice");
  refused(json(R"({"avatar":"ada","text":"a","output":{"fps":5,"fps":25}})"), "'fps' twice");
  refused(form(part("job", R"({"avatar":"ada","avatar":"theo"})") + part("audio", "b") + "--xx--"),
          "'avatar' twice");
}

TEST_CASE("a form has each part once, and an empty file is none") {
  const std::string job = part("job", R"({"avatar":"ada"})"), audio = part("audio", "b");
  Request request = form(job + audio + "--xx--");
  request.headers = {{"content-type", "Multipart/Form-Data; Boundary=xx"}};
  CHECK(parse_job_request(request).audio == "b");
  refused(form(job + audio + audio + "--xx--"), "'audio' twice");
  refused(form(job + job + audio + "--xx--"), "'job' twice");
  refused(form(job + part("audio", "") + "--xx--"), "'audio' of the form is empty");
  const std::string text = part("job", R"({"avatar":"ada","text":"a"})");
  CHECK(parse_job_request(form(text + part("audio", "") + "--xx--")).audio.empty());
}

TEST_CASE("a form brings speech, whose length is estimated") {
  const std::string speech = "\r\n--x speech \0 of any bytes" + std::string(32'000, 'b');
  const Request request =
      form(part("job", R"({"avatar":"ada"})") + part("audio", speech) + "--xx--\r\n");
  const JobRequest asked = parse_job_request(request);
  CHECK(asked.audio == speech);
  CHECK(asked.job.spec.avatar == "ada");
  CHECK(asked.job.work.count() > 0);
  refused(form(part("job", R"({"avatar":"ada","text":"a"})") + part("audio", "b") + "--xx--"),
          "leave one of them out");
  refused(form(part("audio", "b") + "--xx--"), "lacks the part 'job'");
  refused(form(part("other", "b") + "--xx--"), "other");
}

TEST_CASE("the length of a WAV is that of its samples, whatever rate of bytes its header says") {
  std::string wav = "RIFF....WAVEfmt " + std::string(28 + 640'000, '\0');
  wav[22] = 2;       // channels
  wav[24] = '\x80';  // 16000 a second
  wav[25] = '\x3E';
  wav[31] = '\x7F';  // two thousand million bytes a second
  wav[34] = 16;      // bits
  const auto seconds = [&](const std::string& job) {
    const Request request = form(part("job", job) + part("audio", wav) + "--xx--\r\n");
    return parse_job_request(request).job.work.count() * 60;
  };
  CHECK(seconds(R"({"avatar":"ada"})") == Approx(10).margin(0.01));
  CHECK(seconds(R"({"avatar":"ada","start":4})") == Approx(6).margin(0.01));
  CHECK(seconds(R"({"avatar":"ada","start":4,"duration":2.5})") == Approx(2.5));
  // A guess of nothing would cost nothing, also once it is measured.
  CHECK(seconds(R"({"avatar":"ada","start":40})") > 0);
}

TEST_CASE("a form that is not whole is refused") {
  refused(form("--xx"), "boundary");
  refused(form(""), "boundary");
  refused(form(part("job", "{}")), "end");
  refused(form("--xx\r\nno header\r\n--xx--"), "header");
  refused(form("--xx\r\nContent-Disposition: form-data\r\n\r\na\r\n--xx--"), "name");
  std::string many;
  for (int i = 0; i < 17; ++i) many += part("job", "{}");
  refused(form(many + "--xx--"), "too many");
  Request without = form(part("job", "{}") + "--xx--");
  without.headers = {{"content-type", "multipart/form-data; boundary="}};
  refused(without, "boundary");
}

TEST_CASE(
    "the time for a form is in proportion to its length, whatever boundary and content it has") {
  constexpr std::size_t k_bytes = 4 << 20;
  const auto seconds_of = [](const auto& work) {
    double least = 1e9;
    for (int i = 0; i < 3; ++i) {
      const std::clock_t begin = std::clock();
      work();
      least = std::min(least, static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC);
    }
    return least;
  };
  const std::string zeros(k_bytes, '\0');
  std::uint64_t hash = 0;
  const double one_pass = seconds_of([&] {
    for (const char c : zeros) hash = (hash ^ static_cast<unsigned char>(c)) * 1099511628211U + 1;
  });
  REQUIRE(hash != 0);
  const std::string a(69, 'a');
  for (const auto& [boundary, unit] : {std::pair<std::string, std::string>{"x" + a, "\r"},
                                       {"x" + a, "a"},
                                       {"a" + a, "a"},
                                       {"x" + a, "\r\n--y" + a}}) {
    std::string body =
        "--" + boundary + "\r\nContent-Disposition: form-data; name=\"audio\"\r\n\r\n";
    while (body.size() < k_bytes) body += unit;
    body += "\r\n--" + boundary + "--";
    const double took = seconds_of([&] {
      REQUIRE(parse_form("multipart/form-data; boundary=" + boundary, body).size() == 1);
    });
    CAPTURE(boundary, unit, took, one_pass);
    CHECK(took < 2 * one_pass);  // a search of each line anew takes three and more
  }
}
