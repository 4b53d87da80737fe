/*
 * decide.c - switches a monitor on or off by the bucket of the installation.
 */
#include "rollout/rollout.h"

#include "wire/bucket.h"

bool mire__rollout_decide(uint32_t *ppm_out, const struct rollout *rollout, enum mire__plugin plugin,
                          const char *install, uint32_t own_ppm)
{
    const struct rollout_plugin *of = &rollout->plugins[plugin];

    *ppm_out = of->known ? of->ppm : own_ppm;
    if (rollout->kill)
        *ppm_out = 0;
    return mire__bucket(install, mire__plugin_name(plugin), of->known ? of->salt : "") < *ppm_out;
}
