#include "core/config/keys.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>

#include "core/text/printable.h"
#include "core/text/suggest.h"

namespace navtalk {
namespace {

std::optional<std::string> wrong_choice(const ConfigKey& key, const std::string& text) {
  const auto& choices = key.choices;
  if (choices.empty() || std::find(choices.begin(), choices.end(), text) != choices.end()) {
    return std::nullopt;
  }
  std::string known;
  for (const std::string& choice : choices) known += (known.empty() ? "" : ", ") + choice;
  return "'" + printable(text) + "' is not one of " + known + did_you_mean(text, choices);
}

std::optional<std::string> out_of_range(const ConfigKey& key, double number) {
  if (number >= key.least && number <= key.most) return std::nullopt;
  return fmt::format("{} is not between {} and {}", number, key.least, key.most);
}

void append_comment(std::string& text, std::string_view sentences) {
  while (!sentences.empty()) {
    const std::size_t end = std::min(sentences.find('\n'), sentences.size());
    text += "# " + std::string(sentences.substr(0, end)) + "\n";
    sentences.remove_prefix(std::min(end + 1, sentences.size()));
  }
}

}  // namespace

std::string ConfigKey::full_name() const { return std::string(section) + "." + std::string(name); }

std::string ConfigKey::variable() const {
  std::string text = "NAVTALK_" + std::string(section) + "_" + std::string(name);
  std::transform(text.begin(), text.end(), text.begin(),
                 [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
  return text;
}

ConfigValue config_value(const Config& config, const ConfigKey& key) {
  Config copy = config;  // members are reached through Config&, for reading as for writing
  return read_member(key.member(copy));
}

std::optional<std::string> set_config_value(Config& config, const ConfigKey& key,
                                            const ConfigValue& value) {
  std::optional<std::string> wrong;
  if (const auto* text = std::get_if<std::string>(&value)) wrong = wrong_choice(key, *text);
  if (const auto* whole = std::get_if<int>(&value)) wrong = out_of_range(key, *whole);
  if (const auto* number = std::get_if<double>(&value)) wrong = out_of_range(key, *number);
  if (!wrong) write_member(key.member(config), value);
  return wrong;
}

std::optional<std::string> set_config_text(Config& config, const ConfigKey& key,
                                           const std::string& text) {
  const ConfigMember member = key.member(config);
  const std::optional<ConfigValue> value = parse_config_value(member, text);
  if (!value) return "'" + printable(text) + "': " + std::string(demand(member));
  return set_config_value(config, key, *value);
}

std::string example_config() {
  std::string text =
      "# navtalk's configuration: /etc/navtalk/navtalk.toml, or the file named with --config.\n"
      "# Every key may also be set as a variable, NAVTALK_<SECTION>_<KEY>, which overrides the\n"
      "# file (lists with commas). See navtalk.toml(5). Every key has its default here.\n";
  std::string_view section;
  for (const ConfigKey& key : config_keys()) {
    if (key.section != section) text += "\n[" + std::string(key.section) + "]\n";
    section = key.section;
    append_comment(text, key.meaning);
    if (!key.choices.empty()) {
      std::string known;
      for (const std::string& choice : key.choices) known += (known.empty() ? "" : ", ") + choice;
      text += "# One of " + known + ".\n";
    }
    text += std::string(key.name) + " = " + toml_value(config_value(Config{}, key)) + "\n";
  }
  text +=
      "\n# A customer, one such block each. plan: higher is served first. weight: share among\n"
      "# tenants of one plan. max_sessions, max_connections and max_messages_per_s; 0: no "
      "limit.\n"
      "# max_waiting: without it there is no limit. max_job_rate (video-minutes a minute),\n"
      "# max_queued_minutes and max_running_jobs limit offline rendering; 0: no limit.\n"
      "# [[tenant]]\n# name = \"acme\"\n# plan = 0\n# weight = 1.0\n# max_sessions = 0\n"
      "# max_waiting = 10\n# max_connections = 0\n# max_messages_per_s = 0.0\n"
      "# max_job_rate = 0.0\n# max_queued_minutes = 0.0\n# max_running_jobs = 0\n"
      "\n# Other limits of the pool at some times, one such block each; the first one under way "
      "holds.\n"
      "# start, end: as in crontab(5), minute hour day month weekday, in the time zone. Keys that "
      "are\n"
      "# left out stay as they are in [pool].\n"
      "# [[pool.schedule]]\n# name = \"office hours\"\n# time_zone = \"Europe/Berlin\"\n"
      "# start = \"0 8 * * mon-fri\"\n# end = \"0 18 * * mon-fri\"\n# min_running_gpu = 4\n"
      "# free_running_gpu = 8\n# max_gpus = 16\n# policy = \"static\"\n"
      "\n# When GPUs take no sessions. They are drained that long before the start, and return at "
      "the end.\n"
      "# providers: local, external, runpod, kubernetes; empty: all. hosts: local GPUs of those "
      "hosts alone.\n"
      "# [[pool.maintenance]]\n# name = \"updates\"\n# time_zone = \"Europe/Berlin\"\n"
      "# start = \"0 3 * * sun\"\n# end = \"0 5 * * sun\"\n# drain_ahead_min = 30\n"
      "# providers = [\"local\"]\n# hosts = []\n";
  return text;
}

}  // namespace navtalk
