/*
 * plan.c - see plan.h.
 */
#include "core/plan.h"

#include <string.h>

void mire__plan_make(struct plan *plan, const struct rollout *rollout, const mire_options *options, const char *install)
{
    const uint32_t own_ppm = (uint32_t)(options->sampling * MIRE_WIRE_PPM_MAX + 0.5);

    memset(plan, 0, sizeof(*plan));
    plan->rollout = *rollout;
    for (int i = 0; i < MIRE_PLUGINS; i++)
        plan->on[i] = mire__rollout_decide(&plan->ppm[i], rollout, i, install, i == MIRE_PLUGIN_SESSION ? 0 : own_ppm);
}

void mire__plan_load(struct plan *plan, struct store *store, const mire_options *options, const char *install)
{
    char text[MIRE_WIRE_ROLLOUT_MAX], etag[MIRE_STORE_ETAG_BYTES];
    struct rollout rollout;
    size_t size = mire__store_rollout(etag, text, sizeof(text), store);
    bool asked;

    mire__rollout_init(&rollout);
    asked = size > 0 && mire__rollout_read(&rollout, text, size) == MIRE_OK;
    mire__plan_make(plan, &rollout, options, install);
    plan->asked = asked;
}

void mire__plan_numbers(struct capture_settings *settings, const struct rollout *rollout)
{
    for (uint32_t i = 0; i < rollout->number_count; i++)
        mire__settings_wish(settings, rollout->numbers[i].name, rollout->numbers[i].value);
}
