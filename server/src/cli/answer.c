/* answer.c - members of JSON objects, and flows of reports. */
#include "cli/answer.h"
#include "cli/say.h"

#include "base/scope.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bool answer_read(struct json *json, const struct text *body, const char *command, const char *server)
{
    const struct json_limits limits = MIRE_JSON_LIMITS;
    struct json_fault fault;
    if (json_read(json, &fault, body->bytes, body->len, &limits) == MIRE_JSON_OK &&
        json_kind(json, 0) == MIRE_JSON_OBJECT)
        return true;
    say(stderr, "%s: %s answers what this mire does not know\n", command, server);
    return false;
}

int64_t answer_number(const struct json *json, uint32_t object, const char *name)
{
    uint32_t at = json_member(json, object, name);
    int64_t value = 0;
    return at && json_i64(&value, json, at) ? value : 0;
}

char *answer_text(const struct json *json, uint32_t object, const char *name)
{
    uint32_t at = json_member(json, object, name);
    size_t size = at && json_kind(json, at) == MIRE_JSON_STRING ? json_size(json, at) : 0;
    char *out = calloc(1, size + 1);
    if (out && size)
        json_text(out, json, at);
    return out;
}

void answer_print_preview(const struct json *json, uint32_t job, int64_t reports)
{
    int64_t exemplars = answer_number(json, job, "exemplars");

    say(stdout, "%" PRId64 " of %" PRId64 " reports would move; %" PRId64 " issues would appear, %" PRId64 " vanish\n",
        answer_number(json, job, "moved"), reports, answer_number(json, job, "issues_new"),
        answer_number(json, job, "issues_gone"));
    if (exemplars < reports)
        say(stdout, "estimated from %" PRId64 " of them, some of each issue\n", exemplars);
}

void answer_print_flows(const struct json *json, uint32_t job, unsigned most)
{
    uint32_t list = json_member(json, job, "flows");

    for (uint32_t i = 0, at = list + 1; list && most && i < json_size(json, list); i++, at = json_next(json, at)) {
        MIRE_SCOPED(free_memory) char *from = answer_text(json, at, "from_caller1");
        MIRE_SCOPED(free_memory) char *one = answer_text(json, at, "caller1");
        MIRE_SCOPED(free_memory) char *two = answer_text(json, at, "caller2");
        int64_t to = answer_number(json, at, "to_issue");
        if (!from || !one || !two || to == answer_number(json, at, "from_issue"))
            continue;
        say(stdout, "%7" PRId64 "  %s -> %s in %s%s\n", answer_number(json, at, "reports"), from, one, two,
            to ? "" : " (a new issue)");
        most--;
    }
}

void answer_print_lines(const struct text *body)
{
    for (const char *at = body->bytes, *end = at + body->len; at && at < end;) {
        const char *line = memchr(at, '\n', (size_t)(end - at));
        size_t len = line ? (size_t)(line - at) : (size_t)(end - at);
        MIRE_SCOPED(free_memory) char *copy = strndup(at, len);
        say(stdout, "%s\n", copy ? copy : "");
        at += len + 1;
    }
}
