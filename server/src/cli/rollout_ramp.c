/* rollout_ramp.c - `mire rollout ramp`: begins a ramp, pauses, resumes and ends it. */
#include "cli/arguments.h"
#include "cli/cli.h"
#include "cli/fetch.h"
#include "cli/rollout_asking.h"

#include "base/scope.h"

#include <stdlib.h>
#include <string.h>

/* "1,5,20" percent as shares. False: malformed. */
static bool put_steps(struct text *out, const char *list)
{
    text_add(out, "\"steps\":[");
    for (const char *at = list; at; at = *at == ',' ? at + 1 : NULL) {
        char *end;
        double percent = strtod(at, &end);
        if (end == at || (*end && *end != ',') || !(percent > 0 && percent <= 100))
            return false;
        text_printf(out, "%s%.6f", at == list ? "" : ",", percent / 100);
        at = end;
    }
    text_add(out, "]");
    return true;
}

int rollout_ramp(struct rollout_options *asking)
{
    MIRE_SCOPED(text_fini) struct text more = {0}, rest = {0};
    const char *what = asking->words[1];
    bool acts = strcmp(what, "pause") == 0 || strcmp(what, "resume") == 0 || strcmp(what, "back") == 0;
    int status = rollout_fetch(asking, NULL);

    if (status != CLI_DONE)
        return status;
    text_add(&rest, "/rollout/ramps/");
    fetch_escape(&rest, asking->words[0]);
    if (acts)
        text_printf(&more, "\"action\":\"%s\"", what);
    else if (!put_steps(&more, what))
        return rollout_wrong("a ramp is percentages that rise, 1,5,20, or pause, resume or back");
    if (!acts) {
        text_add(&more, ",\"rule\":");
        text_add_json(&more, asking->rule, strlen(asking->rule));
        text_printf(
            &more, ",\"hold_s\":%.0f,\"crash_points\":%g,\"cpu_percent\":%g,\"reports_per_hour\":%.0f,\"backs\":%s",
            asking->hold_h * 3600, asking->crash, asking->cpu, asking->reports, asking->backs ? "true" : "false");
    }

    return text_failed(&rest) ? rollout_no_memory() : rollout_change(asking, acts ? "POST" : "PUT", rest.bytes, &more);
}

const char *rollout_take_guard(void *context, char *word)
{
    struct rollout_options *asking = context;
    const char *equals = strchr(word, '=');
    char *end = NULL;
    double value = equals ? strtod(equals + 1, &end) : -1;
    bool good = equals && end != equals + 1 && !*end && value >= 0;

    if (good && strncmp(word, "crash=", 6) == 0)
        asking->crash = value;
    else if (good && strncmp(word, "cpu=", 4) == 0)
        asking->cpu = value;
    else if (good && strncmp(word, "reports=", 8) == 0)
        asking->reports = value;
    else
        return "guards are crash=N, cpu=N and reports=N";
    return NULL;
}

const char *rollout_take_hold(void *context, char *word)
{
    struct rollout_options *asking = context;
    char *end;

    asking->hold_h = strtod(word, &end);
    return end != word && !*end && asking->hold_h > 0 ? NULL : "--hold is a number of hours";
}

const char *rollout_take_on_guard(void *context, char *word)
{
    struct rollout_options *asking = context;

    asking->backs = strcmp(word, "back") == 0;
    return asking->backs || strcmp(word, "pause") == 0 ? NULL : "--on-guard is pause or back";
}
