/*
 * hour_columns.h - rows of version_hour and issue_hour as parameters of statements, column by column. Inside rows/ only.
 */
#ifndef MIRE_ROWS_HOUR_COLUMNS_H
#define MIRE_ROWS_HOUR_COLUMNS_H

#include "base/arena.h"
#include "model/rows.h"

struct hour_columns {
    int16_t *slots;
    int64_t *hours, *issues, *versions, *reports, *longest, *last, *most;
    int32_t *apps, *trees;
    const char **categories;
    double *events, *waited, *above;
};

/* Room for `count` rows in the arena. False: no memory. */
bool hour_columns_make(struct hour_columns *out, struct arena *arena, size_t count);

/* Fill them, with the slots of issue_hour or of version_hour. Texts are borrowed. */
void hour_columns_fill(struct hour_columns *out, const struct hour_row *hours, size_t count, bool of_issues);

#endif
