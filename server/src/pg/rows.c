/*
 * rows.c - results in PostgreSQL's binary formats, read by the length of each value.
 */
#include "pg/inside.h"

#include <stdlib.h>
#include <string.h>

#define EPOCH_US   INT64_C(946684800000000)
#define EPOCH_DAYS 10957

void pg_rows_free(struct pg_rows **rows)
{
    if (!*rows)
        return;
    PQclear((*rows)->result);
    free(*rows);
    *rows = NULL;
}

size_t pg_row_count(const struct pg_rows *rows)
{
    return (size_t)PQntuples(rows->result);
}

int64_t pg_touched(const struct pg_rows *rows)
{
    return strtoll(PQcmdTuples(rows->result), NULL, 10);
}

bool pg_is_null(const struct pg_rows *rows, size_t row, int column)
{
    return PQgetisnull(rows->result, (int)row, column);
}

struct pg_bytes pg_bytes(const struct pg_rows *rows, size_t row, int column)
{
    if (PQgetisnull(rows->result, (int)row, column))
        return (struct pg_bytes){"", 0};
    return (struct pg_bytes){PQgetvalue(rows->result, (int)row, column),
                             (size_t)PQgetlength(rows->result, (int)row, column)};
}

const char *pg_text(const struct pg_rows *rows, size_t row, int column)
{
    return pg_bytes(rows, row, column).bytes; /* libpq puts a NUL behind every value */
}

/* A big-endian integer of up to 8 bytes, sign extended. */
int64_t pg_int(const struct pg_rows *rows, size_t row, int column)
{
    struct pg_bytes value = pg_bytes(rows, row, column);
    const unsigned char *bytes = value.bytes;
    if (!value.len || value.len > 8)
        return 0;
    uint64_t bits = bytes[0] & 0x80 ? UINT64_MAX : 0;
    for (size_t i = 0; i < value.len; i++)
        bits = bits << 8 | bytes[i];
    return (int64_t)bits;
}

bool pg_bool(const struct pg_rows *rows, size_t row, int column)
{
    return pg_int(rows, row, column) != 0;
}

double pg_real(const struct pg_rows *rows, size_t row, int column)
{
    int64_t bits = pg_int(rows, row, column);

    if (pg_bytes(rows, row, column).len == 4) {
        float single;
        uint32_t half = (uint32_t)bits;
        memcpy(&single, &half, sizeof single);
        return (double)single;
    }
    double value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

struct uuid pg_uuid(const struct pg_rows *rows, size_t row, int column)
{
    struct uuid uuid = {{0}};
    struct pg_bytes value = pg_bytes(rows, row, column);
    if (value.len == sizeof uuid.bytes)
        memcpy(uuid.bytes, value.bytes, sizeof uuid.bytes);
    return uuid;
}

int64_t pg_time(const struct pg_rows *rows, size_t row, int column)
{
    int64_t time_us;

    if (pg_is_null(rows, row, column))
        return 0;
    return __builtin_add_overflow(pg_int(rows, row, column), EPOCH_US, &time_us) ? INT64_MAX : time_us;
}

int32_t pg_day(const struct pg_rows *rows, size_t row, int column)
{
    return pg_is_null(rows, row, column) ? 0 : (int32_t)pg_int(rows, row, column) + EPOCH_DAYS;
}
