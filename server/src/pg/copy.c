/*
 * copy.c - many rows into one table, in PostgreSQL's binary format of COPY: the number of fields of each row, then each
 * field's length and bytes.
 */
#include "pg/inside.h"

#include <string.h>

static const char head[] = "PGCOPY\n\377\r\n\0\0\0\0\0\0\0\0\0"; /* signature, flags, length of an extension */

static void add_count(struct text *out, size_t count)
{
    const unsigned char big[] = {(unsigned char)(count >> 8), (unsigned char)count};
    text_append(out, big, sizeof big);
}

void pg_copy_row(struct pg_copy *copy, const struct pg_param *params, size_t count)
{
    if (!copy->rows++)
        text_append(&copy->bytes, head, sizeof head - 1);
    add_count(&copy->bytes, count);
    for (size_t i = 0; i < count; i++)
        pg_wire_field(&copy->bytes, &params[i]);
}

int pg_copy_end(struct pg_tx *tx, const char *sql, struct pg_copy *copy)
{
    PGresult *result;
    int rc;

    if (!copy->rows)
        return 0;
    text_append(&copy->bytes, "\377\377", 2); /* -1: no more rows */
    if (text_failed(&copy->bytes))
        return MIRE_FAULT_MEMORY;
    result = pg_copy_in(tx, sql, copy->bytes.bytes, copy->bytes.len);
    rc = PQresultStatus(result) == PGRES_COMMAND_OK ? 0 : pg_complain(tx, result, sql);
    PQclear(result);
    return rc;
}

void pg_copy_fini(struct pg_copy *copy)
{
    text_fini(&copy->bytes);
}
