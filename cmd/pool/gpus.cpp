// pool add, token, drain, wake, pause, remove: what an operator does to single GPUs.
#include <CLI/CLI.hpp>
#include <functional>
#include <nlohmann/json.hpp>

#include "cmd/commands.h"
#include "cmd/pool/parts.h"
#include "core/net/url.h"
#include "core/text/printable.h"
#include "scheduler/provision/operator_actions.h"
#include "scheduler/service/pool_report.h"

namespace navtalk::cmd {
namespace {

struct AddOptions {
  std::string url, tenant;
  int slots = 1;
};

int tell(const Gpu& gpu, const std::string& what, PoolStore& store, Context& context) {
  if (context.json) {
    context.out.json(as_json(report_pool(store), gpu));
  } else {
    context.out.print("{} {}\n", gpu.id.text, what);
  }
  return 0;
}

int add(const AddOptions& options, Context& context) {
  const auto store = open_store(context.config);
  const Gpu gpu = register_gpu(*store, identity_of(*store, context.config),
                               {.url = options.url,
                                .slots = options.slots,
                                .dedicated_to = {options.tenant},
                                .allow_http = context.config.pool.allow_http_workers},
                               operator_name());
  return tell(gpu,
              "is registered; it is idle once its worker has answered. If it answers 401, give it "
              "the token that 'navtalk pool token " +
                  printable(gpu.url) + "' prints",
              *store, context);
}

int token(const std::string& url, Context& context) {
  const std::string token = worker_tokens_of(context.config).of_url(url);
  if (context.json) {
    context.out.json({{"url", parse_http_url(url).base()}, {"token", token}});
  } else {
    context.out.print("{}\n", token);
  }
  return 0;
}

// A command that takes one id, and flags of its own.
CLI::App& add_action(Commands& commands, const std::string& name, const std::string& summary,
                     const std::string& examples,
                     std::function<int(const std::string&, PoolStore&, Context&)> action) {
  const auto id = std::make_shared<std::string>();
  CLI::App& command = commands.add({
      .group = Group::pool,
      .name = name,
      .summary = summary,
      .examples = examples,
      .action =
          [id, action = std::move(action)](Context& context) {
            const auto store = open_store(context.config);
            return action(*id, *store, context);
          },
  });
  command.add_option("id", *id, "The GPU's id, or a unique prefix of it")
      ->required()
      ->type_name("ID");
  return command;
}

}  // namespace

void add_pool_add(Commands& commands) {
  const auto options = std::make_shared<AddOptions>();
  CLI::App& command = commands.add({
      .group = Group::pool,
      .name = "add",
      .summary = "Register a worker that runs elsewhere",
      .examples = "  navtalk pool add --url https://gpu7.example --slots 4\n"
                  "  navtalk pool add --url https://gpu8.example --dedicated-to acme\n",
      .action = [options](Context& context) { return add(*options, context); },
  });
  command.add_option("--url", options->url, "The worker's base URL")->required()->type_name("URL");
  command.add_option("--slots", options->slots, "Sessions that it holds at once (default 1)")
      ->check(CLI::Range(1, 1000))
      ->type_name("N");
  command.add_option("--dedicated-to", options->tenant, "Only this tenant may use it")
      ->type_name("TENANT");
}

void add_pool_token(Commands& commands) {
  const auto url = std::make_shared<std::string>();
  CLI::App& command = commands.add({
      .group = Group::pool,
      .name = "token",
      .summary = "Print the token of a worker that runs elsewhere",
      .examples = "  navtalk pool token https://gpu7.example > token\n",
      .action = [url](Context& context) { return token(*url, context); },
  });
  command.add_option("url", *url, "The URL by which it is registered, or is going to be")
      ->required()
      ->type_name("URL");
}

void add_pool_drain(Commands& commands) {
  struct Options {
    bool undo = false;
    double notice_s = in_seconds(k_drain_notice);
  };
  const auto options = std::make_shared<Options>();
  CLI::App& command = add_action(
      commands, "drain", "Let a GPU take no new sessions",
      "  navtalk pool drain local-3fa9c2d1\n"
      "  navtalk pool drain --notice-s 3600 local-3fa9c2d1\n"
      "  navtalk pool drain --undo local-3fa9c2d1\n",
      [options](const std::string& id, PoolStore& store, Context& context) {
        if (options->undo) {
          const Gpu gpu = undrain_gpu(store, id, operator_name());
          return tell(gpu, "takes sessions again", store, context);
        }
        const Gpu gpu = drain_gpu(store, id, from_seconds(options->notice_s), operator_name());
        return tell(gpu, fmt::format("takes no new sessions; it has {}", gpu.sessions), store,
                    context);
      });
  CLI::Option* const undo = command.add_flag("--undo", options->undo, "Let it take sessions again");
  command
      .add_option("--notice-s", options->notice_s,
                  "How long its sessions may continue (default 300)")
      ->check(CLI::Range(0.0, in_seconds(k_longest_drain_notice)))
      ->type_name("SECONDS")
      ->excludes(undo);
}

void add_pool_wake(Commands& commands) {
  add_action(commands, "wake", "Wake a paused GPU", "  navtalk pool wake local-3fa9c2d1\n",
             [](const std::string& id, PoolStore& store, Context& context) {
               return tell(wake_gpu(store, id, operator_name()), "is being woken", store, context);
             });
}

void add_pool_pause(Commands& commands) {
  add_action(commands, "pause", "Pause an idle GPU: it is kept and costs little",
             "  navtalk pool pause local-3fa9c2d1\n",
             [](const std::string& id, PoolStore& store, Context& context) {
               return tell(pause_gpu(store, id, operator_name()), "is being paused", store,
                           context);
             });
}

void add_pool_remove(Commands& commands) {
  add_action(commands, "remove", "Destroy a GPU without sessions, or unregister a worker",
             "  navtalk pool remove local-3fa9c2d1\n",
             [](const std::string& id, PoolStore& store, Context& context) {
               const Gpu gpu = remove_gpu(store, id, operator_name());
               const bool external = gpu.source == Source::external;
               return tell(gpu, external ? "is removed" : "is being destroyed", store, context);
             });
}

}  // namespace navtalk::cmd
