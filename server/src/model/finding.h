/*
 * finding.h - findings about a server: an area, its state, and the next step.
 *
 *     findings_add(&findings, (struct server_finding){.about = "clock", .grade = grade, .next = "run a time service",
 *                                              .text = "{s} s between this machine and the database",
 *                                              .values = {{.name = "s", .number = apart_s}}});
 *
 * The texts are English with names of values in braces, so that a page in another language translates them whole.
 */
#ifndef MIRE_MODEL_FINDING_H
#define MIRE_MODEL_FINDING_H

#include "base/text.h"

#include <stdint.h>

#define MIRE_FINDINGS_MAX   40
#define MIRE_FINDING_VALUES 5

enum finding_grade {
    MIRE_FINDING_OK,
    MIRE_FINDING_LOOK, /* act soon */
    MIRE_FINDING_BAD,  /* act now */
};

struct finding_value {
    const char *name; /* static; NULL: none */
    const char *text; /* borrowed; NULL: it is a number */
    int64_t number;
};

struct server_finding {
    const char *about; /* the area; static, as the next two are */
    const char *text;
    const char *next; /* the next step, unless all is well */
    enum finding_grade grade;
    struct finding_value values[MIRE_FINDING_VALUES];
};

struct findings {
    struct server_finding all[MIRE_FINDINGS_MAX];
    size_t count;
    int bad, look;
};

/* "ok", "look", "bad"; static. */
const char *finding_grade_name(enum finding_grade grade);

/* Findings beyond MIRE_FINDINGS_MAX are dropped. */
void findings_add(struct findings *findings, struct server_finding finding);

/* Append the text with its values. */
void finding_write(struct text *out, const struct server_finding *finding);

#endif
