#include "scheduler/provision/blocked_by.h"

#include <array>

namespace navtalk {
namespace {

constexpr std::array<std::string_view, 10> k_phrases = {
    "none",
    "the cap on GPUs is reached",
    "the cap on dollars per hour is reached",
    "the cap on creations per tick is reached; the next tick continues",
    "creation is paused because the provider refused the account",
    "the provider has no capacity now",
    "GPUs there fail as fast as they are created: a crash loop, not a lack of capacity",
    "no source can create another GPU",
    "failed GPUs are not replaced for a while",
    "most GPUs there do not answer, so that new ones are tried one at a time",
};

}  // namespace

std::string_view name(BlockedBy reason) { return k_phrases.at(static_cast<std::size_t>(reason)); }

}  // namespace navtalk
