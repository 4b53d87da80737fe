/*
 * rollout_share.h - reads and changes a rollout share: the share of one plugin in one rule of a rollout. A change adds
 * a version.
 */
#ifndef MIRE_API_ROLLOUT_ROLLOUT_SHARE_H
#define MIRE_API_ROLLOUT_ROLLOUT_SHARE_H

#include "base/arena.h"
#include "rows/document.h"
#include "wire/plugin.h"

#define MIRE_ROLLOUT_SHARE_NONE UINT32_MAX /* there is no such rule, or it does not have the plugin */

struct rollout_share {
    int32_t app;
    enum mire__plugin plugin;
    const char *rule;
};

/* The plugin with that name; MIRE_PLUGINS if there is none. */
enum mire__plugin rollout_share_plugin(const char *name);

/* The share in force, millionths or MIRE_ROLLOUT_SHARE_NONE, and its version. 0 or a fault. */
int rollout_share_read(uint32_t *ppm_out, int64_t *version_out, struct pg_tx *tx, struct arena *arena,
                       const struct rollout_share *share);

/*
 * Make the version after `base` with another share. MIRE_DOCUMENT_DONE, _NONE (as MIRE_ROLLOUT_SHARE_NONE), _MOVED, or a fault.
 * The caller commits.
 */
int rollout_share_change(struct pg_tx *tx, struct arena *arena, const struct rollout_share *share, int64_t base,
                         uint32_t ppm, const char *author, const char *reason);

#endif
