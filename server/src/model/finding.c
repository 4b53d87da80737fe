/* finding.c - see finding.h. */
#include "model/finding.h"

#include <inttypes.h>
#include <string.h>

const char *finding_grade_name(enum finding_grade grade)
{
    static const char *const names[] = {"ok", "look", "bad"};
    return names[grade];
}

void findings_add(struct findings *findings, struct server_finding finding)
{
    if (findings->count == MIRE_FINDINGS_MAX)
        return;
    findings->all[findings->count++] = finding;
    findings->bad += finding.grade == MIRE_FINDING_BAD;
    findings->look += finding.grade == MIRE_FINDING_LOOK;
}

/* The value of the name at `at`; NULL: there is none. */
static const struct finding_value *value_of(const struct server_finding *finding, const char *at, size_t len)
{
    for (size_t i = 0; i < MIRE_FINDING_VALUES && finding->values[i].name; i++)
        if (strlen(finding->values[i].name) == len && !memcmp(finding->values[i].name, at, len))
            return &finding->values[i];
    return NULL;
}

void finding_write(struct text *out, const struct server_finding *finding)
{
    for (const char *at = finding->text; *at;) {
        size_t plain = strcspn(at, "{"), name = at[plain] ? strcspn(at + plain + 1, "}") : 0;
        text_append(out, at, plain);
        at += plain;
        if (!*at)
            break;
        const struct finding_value *value = value_of(finding, at + 1, name);
        if (value && value->text)
            text_add(out, value->text);
        else if (value)
            text_printf(out, "%" PRId64, value->number);
        at += name + 2;
    }
}
