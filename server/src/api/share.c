/* share.c - see share.h. */
#include "api/share.h"

#include "base/fault.h"
#include "rollout/rollout.h"

#include <string.h>

enum mire__plugin share_plugin(const char *name)
{
    int plugin = 0;

    while (plugin < MIRE_PLUGINS && strcmp(mire__plugin_name(plugin), name) != 0)
        plugin++;
    return plugin;
}

/* The rollout that holds, and the plugin in its rule; NULL if there is none. 0 or a fault. */
static int find(struct rollout *rollout, struct rule_plugin **plugin_out, int64_t *version_out, struct pg_tx *tx,
                struct arena *arena, const struct share_place *place)
{
    struct pg_edition row;
    int rc = pg_edition_find(&row, tx, arena, PG_EDITION_ROLLOUT, place->app, 0);

    if (rc)
        return rc;
    if (rollout_parse(rollout, arena, row.version ? row.rules : rollout_default) != 0)
        return MIRE_FAULT_BROKEN;
    *version_out = row.version;
    *plugin_out = NULL;
    for (size_t i = 0; i < rollout->count; i++)
        if (strcmp(rollout->rules[i].name, place->rule) == 0 && rollout->rules[i].plugins[place->plugin].known)
            *plugin_out = &rollout->rules[i].plugins[place->plugin];
    return 0;
}

int share_read(uint32_t *ppm_out, int64_t *version_out, struct pg_tx *tx, struct arena *arena,
               const struct share_place *place)
{
    struct rollout rollout;
    struct rule_plugin *plugin;
    int rc = find(&rollout, &plugin, version_out, tx, arena, place);

    if (!rc)
        *ppm_out = plugin ? plugin->ppm : MIRE_SHARE_NONE;
    return rc;
}

int share_change(struct pg_tx *tx, struct arena *arena, const struct share_place *place, int64_t base, uint32_t ppm,
                 const char *author, const char *reason)
{
    MIRE_SCOPED(text_fini) struct text text = {0};
    struct rollout rollout;
    struct rule_plugin *plugin;
    int64_t version;
    int rc = find(&rollout, &plugin, &version, tx, arena, place);

    if (rc)
        return rc;
    if (version != base)
        return MIRE_EDITION_MOVED;
    if (!plugin)
        return MIRE_EDITION_NONE;
    plugin->ppm = ppm;
    rollout_write(&text, &rollout);
    if (text_failed(&text))
        return MIRE_FAULT_MEMORY;
    return pg_edition_add(tx, PG_EDITION_ROLLOUT, place->app, base,
                          &(struct pg_edition){.author = author, .reason = reason, .rules = text.bytes});
}
