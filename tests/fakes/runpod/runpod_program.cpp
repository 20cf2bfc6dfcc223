// A fake Runpod as a program, for tests that start and kill navtalk. It writes
//   {"api_url":"http://127.0.0.1:PORT/v2","fake_url":"http://127.0.0.1:PORT/_fake","proxy_url":...}
// and ends at SIGTERM, SIGINT, or when its standard input ends (with --until-eof).
//
//   --port N              listen there (0: any)
//   --workers none|fake   what answers on the pods' ports
//   --worker COMMAND...   a process for each pod instead; the rest of the line is its command
//   --life JSON           how pods live, see runpod_pod.h
//   --fault JSON          see runpod_fault.h; may be given often
//   --usd-per-hour N
// The script goes on over HTTP, see runpod_server.h.
#include <poll.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <stdexcept>

#include "tests/fakes/runpod/runpod_server.h"

namespace {

using namespace navtalk::tests;
using nlohmann::json;

struct Arguments {
  RunpodServerOptions options{};
  PodLife life{};
  std::vector<RunpodFault> faults{};
  bool until_eof = false;
};

Arguments parse(const std::vector<std::string>& words) {
  Arguments result;
  using Workers = RunpodServerOptions::Workers;
  for (std::size_t i = 0; i < words.size(); ++i) {
    const std::string& word = words[i];
    const auto value = [&]() -> const std::string& { return words.at(++i); };
    if (word == "--until-eof") {
      result.until_eof = true;
    } else if (word == "--port") {
      result.options.port = std::stoi(value());
    } else if (word == "--workers") {
      result.options.workers = value() == "fake" ? Workers::fake : Workers::none;
    } else if (word == "--worker") {
      result.options.workers = Workers::command;
      result.options.command.assign(words.begin() + static_cast<std::ptrdiff_t>(i) + 1,
                                    words.end());
      break;
    } else if (word == "--life") {
      result.life = life_from_json(json::parse(value()), result.life);
    } else if (word == "--fault") {
      result.faults.push_back(fault_from_json(json::parse(value())));
    } else if (word == "--usd-per-hour") {
      result.options.usd_per_hour = std::stod(value());
    } else {
      throw std::invalid_argument("no such option: " + word);
    }
  }
  return result;
}

void wait_for_end(int signals, bool until_eof) {
  pollfd ends[] = {{signals, POLLIN, 0}, {until_eof ? STDIN_FILENO : -1, POLLIN, 0}};
  while (::poll(ends, 2, -1) > 0 && ends[0].revents == 0) {
    char ignored[256];
    if (::read(STDIN_FILENO, ignored, sizeof ignored) <= 0) return;
  }
}

}  // namespace

int main(int argc, char** argv) {
  sigset_t ending;
  sigemptyset(&ending);
  sigaddset(&ending, SIGTERM);
  sigaddset(&ending, SIGINT);
  try {
    const Arguments arguments = parse({argv + 1, argv + argc});
    // Blocked before any thread starts, so that every thread inherits it.
    pthread_sigmask(SIG_BLOCK, &ending, nullptr);
    RunpodServer server(arguments.options);
    server.life(arguments.life);
    for (const RunpodFault& fault : arguments.faults) server.fault(fault);
    std::string fake_url = server.api_url();
    fake_url.replace(fake_url.size() - 3, 3, "/_fake");
    const json place = {
        {"api_url", server.api_url()}, {"fake_url", fake_url}, {"proxy_url", server.proxy_url()}};
    std::printf("%s\n", place.dump().c_str());
    std::fflush(stdout);
    wait_for_end(::signalfd(-1, &ending, SFD_CLOEXEC), arguments.until_eof);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "fake_runpod: %s\n", error.what());
    return 2;
  }
  return 0;
}
