/* facts_options.c - the parts of the facts that every system has. */
#include "core/facts.h"

#include "platform/platform.h"

#include <string.h>

void mire__facts_of_app(struct blackbox_facts *out, const mire_options *options, const char *install)
{
    mire__text_copy(out->app_name, sizeof(out->app_name), options->app_name);
    mire__text_copy(out->app_version, sizeof(out->app_version), options->app_version);
    mire__text_copy(out->app_channel, sizeof(out->app_channel), options->channel);
    mire__text_copy(out->app_build, sizeof(out->app_build), options->app_build);
    mire__text_copy(out->install, sizeof(out->install), install);
}

/* The app knows better. */
static void take_option(char *fact, const char *given)
{
    if (given[0])
        mire__text_copy(fact, MIRE_FACT_BYTES, given);
}

void mire__facts_take_options(struct blackbox_facts *out, const mire_options *options)
{
    take_option(out->model, options->model);
    take_option(out->device_class, options->device_class);
    take_option(out->os, options->os);
    take_option(out->os_version, options->os_version);
}

void mire__facts_of_begin(struct blackbox_facts *out)
{
    out->pid = mire__pid();
    out->start_ticks = mire__process_start_ticks(out->pid);
    out->start_mono_ns = mire__now_ns();
    out->start_wall_ms = mire__wall_now_ms();
    out->start_boot_ns = mire__boot_now_ns();
}

void mire__facts_of_run(struct evidence_start *out, const struct blackbox_facts *facts)
{
    memset(out, 0, sizeof(*out));
    out->pid = facts->pid;
    out->start_ticks = facts->start_ticks;
    out->wall_ms = facts->start_wall_ms;
    out->boot_ns = facts->start_boot_ns;
    mire__text_copy(out->boot_id, sizeof(out->boot_id), facts->boot_id);
    mire__text_copy(out->app_version, sizeof(out->app_version), facts->app_version);
    mire__text_copy(out->app_build, sizeof(out->app_build), facts->app_build);
    mire__text_copy(out->os_version, sizeof(out->os_version), facts->os_version);
    mire__text_copy(out->process_name, sizeof(out->process_name), facts->process_name);
    mire__facts_of_kernel(out->os_build, sizeof(out->os_build));
}
