/* rollout_rule.c - one rule of a rollout, for a terminal. */
#include "cli/rollout_rule.h"
#include "cli/say.h"

#include "base/scope.h"

#include <inttypes.h>
#include <stdio.h>

static void put_words(struct text *out, const char *what, const struct rule_words *words)
{
    if (!words->known)
        return;
    text_printf(out, " %s", what);
    if (words->count > 5)
        text_printf(out, " one of %zu", words->count);
    for (size_t i = 0; i < words->count && words->count <= 5; i++)
        text_printf(out, "%s%s", i ? "," : " ", words->words[i]);
    if (!words->count)
        text_add(out, " none");
}

static void put_range(struct text *out, const char *what, const struct rule_range *range)
{
    if (*range->from || *range->to)
        text_printf(out, " %s %s..%s", what, range->from, range->to);
}

void rollout_print_rule(const struct rollout_rule *rule)
{
    MIRE_SCOPED(text_fini) struct text when = {0};

    put_words(&when, "channel", &rule->channels);
    put_range(&when, "version", &rule->versions);
    put_words(&when, "os", &rule->os);
    put_range(&when, "os version", &rule->os_versions);
    put_words(&when, "class", &rule->classes);
    put_words(&when, "arch", &rule->archs);
    put_words(&when, "install", &rule->installs);
    if (rule->share.known)
        text_printf(&when, " share %g..%g%%", rule->share.from / 1e4, rule->share.to / 1e4);
    say(stdout, "%s:%s\n", rule->name, when.len ? when.bytes : " everyone");
    for (int i = 0; i < MIRE_PLUGINS; i++) {
        const struct rule_plugin *plugin = &rule->plugins[i];
        if (!plugin->known)
            continue;
        say(stdout, "    %-8s %8g%%", mire__plugin_name(i), plugin->ppm / 1e4);
        for (size_t k = 0; k < plugin->parameter_count; k++) {
            const struct rule_parameter *p = &plugin->parameters[k];
            if (p->word)
                say(stdout, "  %s=%s", p->name, p->word);
            else
                say(stdout, "  %s=%" PRIu64, p->name, p->number);
        }
        putchar('\n');
    }
    if (!rule->leave_out.known)
        return;
    say(stdout, "    reports leave out:%s", rule->leave_out.count ? "" : " nothing");
    for (size_t i = 0; i < rule->leave_out.count; i++)
        say(stdout, " %s", rule->leave_out.words[i]);
    putchar('\n');
}
