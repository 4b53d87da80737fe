/* write.c - struct rollout as JSON: set members only, in one order. */
#include "rollout/rollout.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static void put_string(struct text *out, const char *before, const char *text)
{
    text_add(out, before);
    text_add_json(out, text, strlen(text));
}

static void put_words(struct text *out, const char *name, const struct rule_words *words, bool *any)
{
    if (!words->known)
        return;
    text_printf(out, "%s\"%s\":[", *any ? "," : "", name);
    for (size_t i = 0; i < words->count; i++)
        put_string(out, i ? "," : "", words->words[i]);
    text_add(out, "]");
    *any = true;
}

static void put_range(struct text *out, const char *name, const struct rule_range *range, bool *any)
{
    if (!*range->from && !*range->to)
        return;
    text_printf(out, "%s\"%s\":{", *any ? "," : "", name);
    if (*range->from)
        put_string(out, "\"from\":", range->from);
    if (*range->to)
        put_string(out, *range->from ? ",\"to\":" : "\"to\":", range->to);
    text_add(out, "}");
    *any = true;
}

/* 0.02, not 0.020000. */
static void put_ppm(struct text *out, uint32_t ppm)
{
    char digits[16];
    size_t len = (size_t)snprintf(digits, sizeof digits, "%" PRIu32 ".%06" PRIu32, ppm / 1000000, ppm % 1000000);

    while (digits[len - 1] == '0')
        len--;
    text_append(out, digits, digits[len - 1] == '.' ? len - 1 : len);
}

static void put_when(struct text *out, const struct rollout_rule *rule)
{
    bool any = false;

    put_words(out, "channels", &rule->channels, &any);
    put_range(out, "versions", &rule->versions, &any);
    put_words(out, "os", &rule->os, &any);
    put_range(out, "os_versions", &rule->os_versions, &any);
    put_words(out, "classes", &rule->classes, &any);
    put_words(out, "archs", &rule->archs, &any);
    put_words(out, "installs", &rule->installs, &any);
    if (!rule->share.known)
        return;
    text_add(out, any ? ",\"share\":{\"from\":" : "\"share\":{\"from\":");
    put_ppm(out, rule->share.from);
    text_add(out, ",\"to\":");
    put_ppm(out, rule->share.to);
    put_string(out, ",\"salt\":", rule->share.salt);
    text_add(out, "}");
}

static void put_plugin(struct text *out, const struct rule_plugin *plugin)
{
    text_add(out, "{\"probability\":");
    put_ppm(out, plugin->ppm);
    if (*plugin->salt)
        put_string(out, ",\"salt\":", plugin->salt);
    for (size_t i = 0; i < plugin->parameter_count; i++) {
        put_string(out, i ? "," : ",\"parameters\":{", plugin->parameters[i].name);
        if (plugin->parameters[i].word)
            put_string(out, ":", plugin->parameters[i].word);
        else
            text_printf(out, ":%" PRIu64, plugin->parameters[i].number);
    }
    text_add(out, plugin->parameter_count ? "}}" : "}");
}

void rollout_write(struct text *out, const struct rollout *rules)
{
    text_printf(out, "{\"fetch_s\":%" PRIu64 ",\"kill\":%s,\"rules\":[", rules->fetch_s,
                rules->kill ? "true" : "false");
    for (size_t i = 0; i < rules->count; i++) {
        const struct rollout_rule *rule = &rules->rules[i];
        bool any = false;

        put_string(out, i ? ",{\"name\":" : "{\"name\":", rule->name);
        text_add(out, ",\"when\":{");
        put_when(out, rule);
        text_add(out, "},\"plugins\":{");
        for (int p = 0; p < MIRE_PLUGINS; p++) {
            if (!rule->plugins[p].known)
                continue;
            text_printf(out, "%s\"%s\":", any ? "," : "", mire__plugin_name(p));
            put_plugin(out, &rule->plugins[p]);
            any = true;
        }
        text_add(out, "}");
        any = true;
        put_words(out, "leave_out", &rule->leave_out, &any);
        text_add(out, "}");
    }
    text_add(out, "]}");
}
