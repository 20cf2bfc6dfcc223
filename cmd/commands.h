// Every command declares itself with one function add_NAME() in cmd/GROUP/NAME.cpp, listed here and
// in add_commands(). The pattern:
//
//   struct Options { std::filesystem::path directory; };
//
//   int check(const Options& options, Context& context) {
//     if (context.json) context.out.json({{"ok", true}});
//     else context.out.print("{} fits\n", options.directory.native());
//     return 0;
//   }
//
//   void add_model_check(Commands& commands) {
//     const auto options = std::make_shared<Options>();
//     CLI::App& command = commands.add({
//         .group = Group::model,
//         .name = "check",
//         .summary = "Say what a checkpoint folder holds and whether it fits",
//         .examples = "  navtalk model check ~/MuseTalk/models\n",
//         .action = [options](Context& context) { return check(*options, context); }});
//     command.add_option("directory", options->directory, "MuseTalk's checkpoint folder")
//         ->required()
//         ->type_name("DIR");
//   }
//
// Options without a short name; type_name() is the word in --help, from which the completions are
// made (FILE and DIR complete paths). CLI::IsMember gives enumerated values.
#pragma once

#include "cmd/command.h"

namespace navtalk::cmd {

void add_avatar_export(Commands& commands);
void add_avatar_import(Commands& commands);
void add_avatar_list(Commands& commands);
void add_avatar_prepare(Commands& commands);
void add_avatar_pull(Commands& commands);
void add_avatar_push(Commands& commands);
void add_avatar_show(Commands& commands);
void add_bench_image(Commands& commands);
void add_bench_faces(Commands& commands);
void add_bench_pipeline(Commands& commands);
void add_bench_jobs(Commands& commands);
void add_bench_pool(Commands& commands);
void add_bench_scaler(Commands& commands);
void add_bench_serve(Commands& commands);
void add_completions(Commands& commands);
void add_config_check(Commands& commands);
void add_config_example(Commands& commands);
void add_config_show(Commands& commands);
void add_fix_filenames(Commands& commands);
void add_infer(Commands& commands);
void add_job_cancel(Commands& commands);
void add_job_fetch(Commands& commands);
void add_job_list(Commands& commands);
void add_job_probe(Commands& commands);
void add_job_render(Commands& commands);
void add_job_run(Commands& commands);
void add_job_status(Commands& commands);
void add_job_submit(Commands& commands);
void add_job_wait(Commands& commands);
void add_key_create(Commands& commands);
void add_key_list(Commands& commands);
void add_key_revoke(Commands& commands);
void add_model_check(Commands& commands);
void add_model_pull(Commands& commands);
void add_model_push(Commands& commands);
void add_model_verify(Commands& commands);
void add_serve(Commands& commands);
void add_voices(Commands& commands);
void add_pool_add(Commands& commands);
void add_pool_drain(Commands& commands);
void add_pool_audit(Commands& commands);
void add_pool_cost(Commands& commands);
void add_pool_events(Commands& commands);
void add_pool_pause(Commands& commands);
void add_pool_remove(Commands& commands);
void add_pool_scale(Commands& commands);
void add_pool_status(Commands& commands);
void add_pool_token(Commands& commands);
void add_pool_wake(Commands& commands);
void add_tenant_list(Commands& commands);
void add_tenant_set(Commands& commands);
void add_tenant_show(Commands& commands);

void add_commands(Commands& commands);

}  // namespace navtalk::cmd
