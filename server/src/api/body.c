/* body.c - see body.h. */
#include "api/body.h"

#include "api/params.h"
#include "base/fault.h"

#include <stdio.h>

#define NAME_MAX_CHARS 40 /* of an issue */

static int refuse(struct request *request, struct reply *reply, int status, const struct problem *problem)
{
    reply_problem(reply, request, status, problem);
    return 1;
}

int body_read(void *out, struct request *request, struct reply *reply, const struct bind_field *fields, size_t count,
              const char *about)
{
    const struct json_limits limits = MIRE_JSON_LIMITS;
    struct json_fault malformed;
    struct bind_fault wrong;
    struct json json;
    struct bind bind = {.json = &json, .arena = request->arena, .fault = &wrong};
    struct problem problem = MIRE_PROBLEM_INIT;
    char code[40];
    int rc = 0;

    json_init(&json);
    if (json_read(&json, &malformed, (const char *)request->body, request->body_len, &limits) != MIRE_JSON_OK) {
        snprintf(code, sizeof code, "%s.malformed", about);
        problem_set(&problem, code, "%s", malformed.text);
        problem.position = (long long)malformed.at;
        rc = refuse(request, reply, 400, &problem);
    } else {
        enum bind_outcome outcome = bind_object(&bind, out, 0, fields, count);
        if (outcome == MIRE_BIND_WRONG) {
            snprintf(code, sizeof code, "%s.wrong", about);
            problem_set(&problem, code, "%s", wrong.text);
            snprintf(problem.path, sizeof problem.path, "%s", wrong.path);
            problem.has_path = 1;
            rc = refuse(request, reply, 422, &problem);
        } else if (outcome) {
            rc = MIRE_FAULT_MEMORY;
        }
    }
    json_fini(&json);
    return rc;
}

enum bind_outcome body_issues(int64_t *issues, size_t *count_out, struct bind *bind, uint32_t at, uint32_t most)
{
    enum bind_outcome outcome = bind_is_array(bind, at, most);
    uint32_t element = at + 1;

    *count_out = 0;
    for (uint32_t i = 0; !outcome && i < json_size(bind->json, at); i++, element = json_next(bind->json, element)) {
        const char *name;
        bind_enter(bind, NULL, i);
        outcome = bind_text(&name, bind, element, NAME_MAX_CHARS);
        if (!outcome && issue_parse(&issues[(*count_out)++], name) != 0)
            outcome = bind_wrong(bind, "must be an issue, such as I-1042");
        bind_leave(bind);
    }
    return outcome;
}
