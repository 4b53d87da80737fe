/* facts_told.c - the facts that the app told, on every system. */
#include "core/facts.h"

#include "platform/platform.h"

void mire__facts_of_app(struct blackbox_facts *out, const mire_options *options, const char *install)
{
    mire__text_copy(out->app_name, sizeof(out->app_name), options->app_name);
    mire__text_copy(out->app_version, sizeof(out->app_version), options->app_version);
    mire__text_copy(out->app_channel, sizeof(out->app_channel), options->channel);
    mire__text_copy(out->app_build, sizeof(out->app_build), options->app_build);
    mire__text_copy(out->install, sizeof(out->install), install);
}

/* The app knows better. */
static void take_told(char *fact, const char *told)
{
    if (told[0])
        mire__text_copy(fact, MIRE_FACT_BYTES, told);
}

void mire__facts_take_told(struct blackbox_facts *out, const mire_options *options)
{
    take_told(out->model, options->model);
    take_told(out->device_class, options->device_class);
    take_told(out->os, options->os);
    take_told(out->os_version, options->os_version);
}

void mire__facts_of_begin(struct blackbox_facts *out)
{
    out->pid = mire__pid();
    out->start_ticks = mire__process_start_ticks(out->pid);
    out->start_mono_ns = mire__now_ns();
    out->start_wall_ms = mire__wall_now_ms();
    out->start_boot_ns = mire__boot_now_ns();
}
