/* rollout.c - the rule that decides, and the document for an installation. */
#include "rollout/rollout.h"

#include "model/version.h"
#include "wire/bucket.h"
#include "wire/limits.h"

#include <inttypes.h>
#include <string.h>

#define EVERYTHING                                                           \
    "{\"hang\":{\"probability\":1},\"memory\":{\"probability\":1},\"exit\":" \
    "{\"probability\":1},\"session\":{\"probability\":1}}"

/* Session and exit records are small, and every rate is computed from them. So a larger share of the public sends
 * these. */
const char *const rollout_default =
    "{\"fetch_s\":3600,\"kill\":false,\"rules\":["
    "{\"name\":\"whitelist\",\"when\":{\"installs\":[]},\"plugins\":" EVERYTHING "},"
    "{\"name\":\"inside\",\"when\":{\"channels\":[\"gray\",\"internal\"]},\"plugins\":" EVERYTHING "},"
    "{\"name\":\"public\",\"when\":{},\"plugins\":{\"hang\":{\"probability\":0.02},\"memory\":{\"probability\":0.01},"
    "\"exit\":{\"probability\":0.1},\"session\":{\"probability\":0.1}}}]}";

static bool words_fit(const struct rule_words *wanted, const char *word)
{
    for (size_t i = 0; i < wanted->count; i++)
        if (strcmp(wanted->words[i], word) == 0)
            return true;
    return !wanted->known;
}

/* An unknown value lies only in a range without ends. */
static bool range_fits(const struct rule_range *range, const char *version)
{
    if (!*range->from && !*range->to)
        return true;
    return *version && (!*range->from || version_compare(version, range->from) >= 0) &&
           (!*range->to || version_compare(version, range->to) <= 0);
}

/* The plugin's name is the rule's own word, so that a rule's draw and a plugin's are independent. */
static bool share_fits(const struct rule_share *share, const char *install)
{
    uint32_t bucket = share->known ? mire__bucket(install, "rule", share->salt) : 0;

    return !share->known || (bucket >= share->from && bucket < share->to);
}

bool rollout_rule_fits(const struct rollout_rule *rule, const struct rollout_device *device)
{
    return words_fit(&rule->channels, *device->channel ? device->channel : "public") &&
           words_fit(&rule->os, device->os) && words_fit(&rule->classes, device->class) &&
           words_fit(&rule->archs, device->arch) && words_fit(&rule->installs, device->install) &&
           range_fits(&rule->versions, device->version) && range_fits(&rule->os_versions, device->os_version) &&
           share_fits(&rule->share, device->install);
}

const struct rollout_rule *rollout_decide(const struct rollout *rules, const struct rollout_device *device,
                                          enum mire__plugin plugin)
{
    for (size_t i = 0; i < rules->count; i++)
        if (rules->rules[i].plugins[plugin].known && rollout_rule_fits(&rules->rules[i], device))
            return &rules->rules[i];
    return NULL;
}

/* The first rule's that fits and has a list. */
static void put_leave_out(struct text *out, const struct rollout *rules, const struct rollout_device *device)
{
    const struct rule_words *words = NULL;

    for (size_t i = 0; i < rules->count && !words; i++)
        if (rules->rules[i].leave_out.known && rollout_rule_fits(&rules->rules[i], device))
            words = &rules->rules[i].leave_out;
    if (!words || words->count == 0)
        return;
    text_add(out, ",\"leave_out\":\"");
    for (size_t i = 0; i < words->count; i++)
        text_printf(out, "%s%s", i ? " " : "", words->words[i]);
    text_add(out, "\"");
}

static void put_parameters(struct text *out, const struct rule_plugin *plugin)
{
    text_add(out, ",\"parameters\":{");
    for (size_t i = 0; i < plugin->parameter_count; i++) {
        const struct rule_parameter *p = &plugin->parameters[i];

        text_add(out, i ? "," : "");
        text_add_json(out, p->name, strlen(p->name));
        text_add(out, ":");
        if (p->word)
            text_add_json(out, p->word, strlen(p->word));
        else
            text_printf(out, "%" PRIu64, p->number);
    }
    text_add(out, "}");
}

void rollout_evaluate(struct text *out, const struct rollout *rules, int64_t version,
                      const struct rollout_device *device)
{
    bool first = true;

    text_printf(out, "{\"mire_rollout\":%d,\"version\":%" PRId64 ",\"fetch_s\":%" PRIu64 ",\"kill\":%s,\"plugins\":{",
                MIRE_WIRE_ROLLOUT_VERSION, version, rules->fetch_s, rules->kill ? "true" : "false");
    for (int i = 0; i < MIRE_PLUGINS; i++) {
        const struct rollout_rule *rule = rollout_decide(rules, device, i);
        const struct rule_plugin *plugin = rule ? &rule->plugins[i] : NULL;

        if (!plugin)
            continue;
        text_printf(out, "%s\"%s\":{\"ppm\":%" PRIu32, first ? "" : ",", mire__plugin_name(i), plugin->ppm);
        first = false;
        if (*plugin->salt) {
            text_add(out, ",\"salt\":");
            text_add_json(out, plugin->salt, strlen(plugin->salt));
        }
        if (plugin->parameter_count)
            put_parameters(out, plugin);
        text_add(out, "}");
    }
    text_add(out, "}");
    put_leave_out(out, rules, device);
    text_add(out, "}");
}
