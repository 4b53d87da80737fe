/*
 * documents.h - makes the report of a blackbox (boxes.h), and checks its text.
 */
#ifndef MIRE_TESTS_DOCUMENTS_H
#define MIRE_TESTS_DOCUMENTS_H

#include "report/report.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

/* The time of the n-th tenth of a second in box_new's hang. */
#define S(n) (105 * MIRE_NS_PER_S + (n)*100 * MIRE_NS_PER_MS)

/* free() it. */
static inline char *json(const struct blackbox *box, const struct report_attached *names)
{
    char id[MIRE_STORE_ID_LENGTH + 1];
    char *text;
    size_t size;

    assert_int_equal(mire__report_json(&text, &size, id, box, 0, names), MIRE_OK);
    text = realloc(text, size + 1);
    assert_non_null(text);
    text[size] = '\0';
    return text;
}

static inline void assert_says(const struct blackbox *box, const char *part)
{
    char *text = json(box, NULL);

    if (!strstr(text, part))
        fail_msg("%s is not in %s", part, text);
    free(text);
}

#endif
