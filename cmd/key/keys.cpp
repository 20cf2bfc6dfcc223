// key create, list, revoke: the API keys of programs that use the pool's gateways.
#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "cmd/commands.h"
#include "cmd/duration.h"
#include "cmd/pool/parts.h"
#include "cmd/terminal/table.h"
#include "core/base/error.h"
#include "core/text/printable.h"
#include "core/text/rfc3339.h"
#include "scheduler/access/key_store.h"

namespace navtalk::cmd {
namespace {

using Json = nlohmann::ordered_json;

struct CreateOptions {
  std::string tenant, role = "user", expires;
};

std::string shown_time(TimePoint time) {
  return rfc3339(std::chrono::time_point_cast<std::chrono::system_clock::duration>(time));
}

Json shown_time(const std::optional<TimePoint>& time) {
  return time ? Json(shown_time(*time)) : Json(nullptr);
}

Json as_json(const ApiKey& key, TimePoint now) {
  return {{"id", key.id},
          {"tenant", key.tenant.text},
          {"role", name(key.role)},
          {"state", name(state_of(key, now))},
          {"created_at", shown_time(key.created_at)},
          {"expires_at", shown_time(key.expires_at)},
          {"revoked_at", shown_time(key.revoked_at)}};
}

NewKey wanted_key(const CreateOptions& options) {
  NewKey key{.tenant = {options.tenant},
             .role = options.role == "admin" ? Role::admin : Role::user};
  if (options.expires.empty()) return key;
  key.lifetime = parse_duration(options.expires);
  if (!key.lifetime || *key.lifetime <= Duration{}) {
    throw Error(Code::usage, "--expires: '" + printable(options.expires) +
                                 "' is not a length of time such as 12h or 90d");
  }
  return key;
}

int create(const CreateOptions& options, Context& context) {
  const NewKey wanted = wanted_key(options);
  KeyStore keys(open_backend(context.config));
  const MadeKey made = keys.create(wanted);
  Json object = {{"id", made.key.id},
                 {"key", made.text},
                 {"tenant", made.key.tenant.text},
                 {"role", name(made.key.role)}};
  if (made.key.expires_at) object["expires_at"] = shown_time(made.key.expires_at);
  if (context.json) {
    context.out.json(object);
    return 0;
  }
  context.out.print("{}\n", made.text);
  context.out.flush();
  context.out.print(
      "Key {} of tenant '{}', role {}, {}. It is shown only now: the pool keeps its hash.\n",
      made.key.id, made.key.tenant.text, name(made.key.role),
      made.key.expires_at ? "expires " + shown_time(*made.key.expires_at) : "does not expire");
  return 0;
}

int list(Context& context) {
  const KeyList all = KeyStore(open_backend(context.config)).list();
  if (context.json) {
    Json keys = Json::array();
    for (const ApiKey& key : all.keys) keys.push_back(as_json(key, all.now));
    context.out.json({{"keys", std::move(keys)}});
    return 0;
  }
  if (all.keys.empty()) {
    context.out.print("The pool has no API keys.\n");
    return 0;
  }
  std::vector<std::vector<std::string>> rows;
  for (const ApiKey& key : all.keys) {
    rows.push_back({key.id, key.tenant.text, std::string(name(key.role)),
                    std::string(name(state_of(key, all.now))), shown_time(key.created_at),
                    key.expires_at ? shown_time(*key.expires_at) : "never"});
  }
  context.out.write(table({{"ID"}, {"TENANT"}, {"ROLE"}, {"STATE"}, {"CREATED"}, {"EXPIRES"}}, rows,
                          context.colour));
  return 0;
}

int revoke(const std::string& id, Context& context) {
  KeyStore keys(open_backend(context.config));
  const auto key = keys.revoke(id);
  if (!key) {
    throw Error(Code::not_found,
                "there is no API key '" + printable(id) + "'; 'navtalk key list' shows the ids");
  }
  if (context.json) {
    context.out.json(as_json(*key, keys.now()));
  } else {
    context.out.print(
        "Key {} of tenant '{}' is revoked; its sessions end, and within 30 seconds no gateway "
        "accepts it\n",
        key->id, key->tenant.text);
  }
  return 0;
}

}  // namespace

void add_key_create(Commands& commands) {
  const auto options = std::make_shared<CreateOptions>();
  CLI::App& command = commands.add({
      .group = Group::key,
      .name = "create",
      .summary = "Make an API key and print it, once",
      .examples = "  navtalk key create --tenant acme\n"
                  "  navtalk key create --tenant acme --role admin --expires 90d --json\n",
      .action = [options](Context& context) { return create(*options, context); },
  });
  command.add_option("--tenant", options->tenant, "The tenant whose sessions it opens")
      ->required()
      ->type_name("TENANT");
  command
      .add_option("--role", options->role,
                  "user: sessions and browser tokens; admin: also the pool and metrics")
      ->check(CLI::IsMember({"user", "admin"}))
      ->capture_default_str()
      ->type_name("ROLE");
  command
      .add_option("--expires", options->expires,
                  "Length of time such as 12h or 90d; without it never")
      ->type_name("DURATION");
}

void add_key_list(Commands& commands) {
  commands.add({
      .group = Group::key,
      .name = "list",
      .summary = "Show the API keys, without what is secret",
      .examples = "  navtalk key list\n",
      .action = [](Context& context) { return list(context); },
  });
}

void add_key_revoke(Commands& commands) {
  const auto id = std::make_shared<std::string>();
  CLI::App& command = commands.add({
      .group = Group::key,
      .name = "revoke",
      .summary = "Make an API key invalid, for good",
      .examples = "  navtalk key revoke 3fa9c2d10b7e\n",
      .action = [id](Context& context) { return revoke(*id, context); },
  });
  command.add_option("id", *id, "The key's id, as 'navtalk key list' shows it")
      ->required()
      ->type_name("ID");
}

}  // namespace navtalk::cmd
