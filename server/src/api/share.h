/*
 * share.h - one plugin's share in one rule of a rollout, read and changed: a change is one more version.
 */
#ifndef MIRE_API_SHARE_H
#define MIRE_API_SHARE_H

#include "base/arena.h"
#include "pg/edition.h"
#include "wire/plugin.h"

#define MIRE_SHARE_NONE UINT32_MAX /* there is no such rule, or it is silent about the plugin */

struct share_place {
    int32_t app;
    enum mire__plugin plugin;
    const char *rule;
};

/* The plugin of that name; MIRE_PLUGINS if there is none. */
enum mire__plugin share_plugin(const char *name);

/* The share that holds, millionths or MIRE_SHARE_NONE, and the version it is in. 0 or a fault. */
int share_read(uint32_t *ppm_out, int64_t *version_out, struct pg_tx *tx, struct arena *arena,
               const struct share_place *place);

/*
 * Make the version after `base` with another share. MIRE_EDITION_DONE, _NONE (as MIRE_SHARE_NONE), _MOVED, or a fault.
 * The caller commits.
 */
int share_change(struct pg_tx *tx, struct arena *arena, const struct share_place *place, int64_t base, uint32_t ppm,
                 const char *author, const char *reason);

#endif
