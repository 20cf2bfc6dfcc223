#include "server/gateway/jobs/speech/speech_room.h"

#include <catch2/catch.hpp>
#include <string>

using namespace navtalk;
using namespace navtalk::server;

namespace {

const TenantId k_first_tenant{"ada"}, k_second_tenant{"bob"}, k_third_tenant{"eve"};

std::string speech_of(std::size_t bytes) { return std::string(bytes, 'x'); }

}  // namespace

TEST_CASE("speech that is fetched counts until nobody holds it") {
  SpeechRoom room(100);
  auto recording = room.begin(k_first_tenant);
  CHECK(room.append(*recording, speech_of(40)));
  CHECK(room.append(*recording, speech_of(20)));
  FetchedSpeech speech = room.finish(recording);
  recording.reset();
  REQUIRE(speech);
  CHECK(*speech == speech_of(60));
  CHECK(room.bytes() == 60);
  speech.reset();
  CHECK(room.bytes() == 0);
}

TEST_CASE("where the room is full, the largest recording of the tenant that holds the most goes") {
  SpeechRoom room(100);
  const auto large = room.begin(k_first_tenant), small = room.begin(k_third_tenant),
             second = room.begin(k_third_tenant);
  CHECK(room.append(*large, speech_of(40)));
  CHECK(room.append(*small, speech_of(25)));
  CHECK(room.append(*second, speech_of(30)));
  const auto short_one = room.begin(k_second_tenant);
  CHECK(room.append(*short_one, speech_of(10)));
  CHECK(room.bytes() == 75);
  CHECK_FALSE(room.append(*second, speech_of(1)));
  CHECK_FALSE(room.finish(second));
  CHECK(room.bytes() == 75);
  CHECK(room.finish(large));
  CHECK(room.finish(small));
  CHECK(*room.finish(short_one) == speech_of(10));
}

TEST_CASE("a recording that is whole is not given up for another one") {
  SpeechRoom room(100);
  const auto whole = room.begin(k_first_tenant), late = room.begin(k_second_tenant);
  CHECK(room.append(*whole, speech_of(90)));
  const FetchedSpeech speech = room.finish(whole);
  CHECK_FALSE(room.append(*late, speech_of(20)));
  CHECK(room.bytes() == 90);
  CHECK(*speech == speech_of(90));
}
