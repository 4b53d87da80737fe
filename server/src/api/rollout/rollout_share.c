/* rollout_share.c - see rollout_share.h. */
#include "api/rollout/rollout_share.h"

#include "base/fault.h"
#include "rollout/rollout.h"

#include <string.h>

enum mire__plugin rollout_share_plugin(const char *name)
{
    int plugin = 0;

    while (plugin < MIRE_PLUGINS && strcmp(mire__plugin_name(plugin), name) != 0)
        plugin++;
    return plugin;
}

/* The rollout in force, and the plugin in its rule; NULL if there is none. 0 or a fault. */
static int find(struct rollout *rollout, struct rule_plugin **plugin_out, int64_t *version_out, struct pg_tx *tx,
                struct arena *arena, const struct rollout_share *share)
{
    struct rows_document_version row;
    int rc = rows_document_find(&row, tx, arena, ROWS_DOCUMENT_ROLLOUT, share->app, 0);

    if (rc)
        return rc;
    if (rollout_parse(rollout, arena, row.version ? row.rules : rollout_default) != 0)
        return MIRE_FAULT_BROKEN;
    *version_out = row.version;
    *plugin_out = NULL;
    for (size_t i = 0; i < rollout->count; i++)
        if (strcmp(rollout->rules[i].name, share->rule) == 0 && rollout->rules[i].plugins[share->plugin].known)
            *plugin_out = &rollout->rules[i].plugins[share->plugin];
    return 0;
}

int rollout_share_read(uint32_t *ppm_out, int64_t *version_out, struct pg_tx *tx, struct arena *arena,
                       const struct rollout_share *share)
{
    struct rollout rollout;
    struct rule_plugin *plugin;
    int rc = find(&rollout, &plugin, version_out, tx, arena, share);

    if (!rc)
        *ppm_out = plugin ? plugin->ppm : MIRE_ROLLOUT_SHARE_NONE;
    return rc;
}

int rollout_share_change(struct pg_tx *tx, struct arena *arena, const struct rollout_share *share, int64_t base,
                         uint32_t ppm, const char *author, const char *reason)
{
    MIRE_SCOPED(text_fini) struct text text = {0};
    struct rollout rollout;
    struct rule_plugin *plugin;
    int64_t version;
    int rc = find(&rollout, &plugin, &version, tx, arena, share);

    if (rc)
        return rc;
    if (version != base)
        return MIRE_DOCUMENT_MOVED;
    if (!plugin)
        return MIRE_DOCUMENT_NONE;
    plugin->ppm = ppm;
    rollout_write(&text, &rollout);
    if (text_failed(&text))
        return MIRE_FAULT_MEMORY;
    return rows_document_add(tx, ROWS_DOCUMENT_ROLLOUT, share->app, base,
                             &(struct rows_document_version){.author = author, .reason = reason, .rules = text.bytes});
}
