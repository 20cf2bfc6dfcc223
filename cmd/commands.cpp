#include "cmd/commands.h"

namespace navtalk::cmd {

// In the order of --help.
void add_commands(Commands& commands) {
  add_infer(commands);
  add_job_probe(commands);
  add_job_render(commands);
  add_job_submit(commands);
  add_job_wait(commands);
  add_job_fetch(commands);
  add_job_cancel(commands);
  add_job_run(commands);
  add_job_list(commands);
  add_job_status(commands);
  add_voices(commands);
  add_serve(commands);
  add_avatar_list(commands);
  add_avatar_prepare(commands);
  add_avatar_show(commands);
  add_avatar_import(commands);
  add_avatar_export(commands);
  add_avatar_pull(commands);
  add_avatar_push(commands);
  add_pool_status(commands);
  add_pool_scale(commands);
  add_pool_add(commands);
  add_pool_token(commands);
  add_pool_drain(commands);
  add_pool_wake(commands);
  add_pool_pause(commands);
  add_pool_remove(commands);
  add_pool_events(commands);
  add_pool_audit(commands);
  add_pool_cost(commands);
  add_key_create(commands);
  add_key_list(commands);
  add_key_revoke(commands);
  add_tenant_list(commands);
  add_tenant_show(commands);
  add_tenant_set(commands);
  add_bench_image(commands);
  add_bench_pipeline(commands);
  add_bench_faces(commands);
  add_bench_jobs(commands);
  add_bench_pool(commands);
  add_bench_scaler(commands);
  add_bench_serve(commands);
  add_model_check(commands);
  add_model_verify(commands);
  add_model_pull(commands);
  add_model_push(commands);
  add_fix_filenames(commands);
  add_config_check(commands);
  add_config_show(commands);
  add_config_example(commands);
  add_completions(commands);
}

}  // namespace navtalk::cmd
