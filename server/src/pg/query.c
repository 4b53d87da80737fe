/*
 * query.c - statements on a lent connection, one by one or in a batch, and the faults of their errors.
 */
#include "pg/inside.h"

#include "base/hash.h"
#include "base/log.h"
#include "base/text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/*
 *   08, 57P, none   the connection or the server went away        away
 *   53, 58, 25006   no room, no memory, no disk, read only        away: somebody has to do something, then it works
 *   40, 55P03       deadlock, serialization, lock not available   raced
 *   57014           statement or lock timeout                     timeout
 *   others          ours, or the data's                           sql
 */
int pg_fault_of(const char *sqlstate)
{
    static const struct {
        const char *prefix;
        int fault;
    } classes[] = {{"08", MIRE_FAULT_AWAY},  {"57P", MIRE_FAULT_AWAY},   {"57014", MIRE_FAULT_TIMEOUT},
                   {"53", MIRE_FAULT_AWAY},  {"58", MIRE_FAULT_AWAY},    {"25006", MIRE_FAULT_AWAY},
                   {"40", MIRE_FAULT_RACED}, {"55P03", MIRE_FAULT_RACED}};

    if (!sqlstate || !*sqlstate)
        return MIRE_FAULT_AWAY;
    for (size_t i = 0; i < sizeof classes / sizeof *classes; i++)
        if (!strncmp(sqlstate, classes[i].prefix, strlen(classes[i].prefix)))
            return classes[i].fault;
    return MIRE_FAULT_SQL;
}

int pg_complain(struct pg_tx *tx, const PGresult *result, const char *sql)
{
    const char *state = result ? PQresultErrorField(result, PG_DIAG_SQLSTATE) : NULL;
    const char *primary = result ? PQresultErrorField(result, PG_DIAG_MESSAGE_PRIMARY) : NULL;
    bool is_lost = tx->broken || PQstatus(tx->conn) != CONNECTION_OK;
    int fault = is_lost ? MIRE_FAULT_AWAY : pg_fault_of(state ? state : "XX000");

    text_format(tx->complaint, sizeof tx->complaint, "%s", primary ? primary : PQerrorMessage(tx->conn));
    tx->broken = tx->broken || is_lost;
    bool is_expected = tx->mode == MIRE_PG_GLANCE && fault == MIRE_FAULT_TIMEOUT;
    enum log_level level = fault == MIRE_FAULT_SQL ? MIRE_LOG_ERROR : MIRE_LOG_WARN;
    log_event(pg_log(tx->pool), is_expected ? MIRE_LOG_DEBUG : level, "pg.fault", LOG_TEXT("fault", fault_name(fault)),
              LOG_TEXT("sqlstate", state ? state : ""), LOG_TEXT("said", tx->complaint), LOG_TEXT("sql", sql));
    return fault;
}

const char *pg_complaint(const struct pg_tx *tx)
{
    return tx->complaint;
}

static bool is_good(const PGresult *result)
{
    ExecStatusType status = PQresultStatus(result);
    return status == PGRES_COMMAND_OK || status == PGRES_TUPLES_OK;
}

int pg_command(struct pg_tx *tx, const char *sql)
{
    PGresult *result = pg_exec(tx, sql);
    int rc = is_good(result) ? 0 : pg_complain(tx, result, sql);
    PQclear(result);
    return rc;
}

int pg_script(struct pg_tx *tx, const char *sql)
{
    return pg_command(tx, sql);
}

int pg_save(struct pg_tx *tx)
{
    return pg_command(tx, "SAVEPOINT here");
}

int pg_undo(struct pg_tx *tx)
{
    return pg_command(tx, "ROLLBACK TO SAVEPOINT here; RELEASE SAVEPOINT here");
}

static uint64_t statement_hash(const char *sql, const struct pg_wire *wire)
{
    uint64_t hash = fnv_text(MIRE_HASH_START, sql);
    for (int i = 0; i < wire->count; i++)
        hash = fnv_step(hash, wire->types[i]);
    return hash;
}

int pg_prepared(char name_out[16], struct pg_tx *tx, const char *sql, const struct pg_wire *wire, bool may_prepare)
{
    uint64_t hash = statement_hash(sql, wire);

    name_out[0] = '\0';
    for (int i = 0; i < tx->statement_count; i++) {
        if (tx->statements[i].hash == hash && !strcmp(tx->statements[i].sql, sql)) {
            snprintf(name_out, 16, "s%d", i);
            return 0;
        }
    }

    if (!may_prepare || tx->statement_count == MIRE_PG_STATEMENTS_MAX)
        return 0;
    char name[16];
    snprintf(name, sizeof name, "s%d", tx->statement_count);
    PGresult *result = pg_prepare(tx, name, sql, wire);
    int rc = is_good(result) ? 0 : pg_complain(tx, result, sql);
    PQclear(result);
    char *copy = rc ? NULL : strdup(sql);
    if (rc)
        return rc;
    if (!copy) {
        tx->broken = true; /* the name is in use in the database, and is not in the list */
        return MIRE_FAULT_MEMORY;
    }
    tx->statements[tx->statement_count++] = (struct pg_statement){.sql = copy, .hash = hash};
    memcpy(name_out, name, sizeof name);
    return 0;
}

static int run(PGresult **out, struct pg_tx *tx, const char *sql, const struct pg_wire *wire)
{
    char name[16];
    int rc = pg_prepared(name, tx, sql, wire, true);
    if (rc)
        return rc;
    *out = pg_run(tx, name, sql, wire);
    return is_good(*out) ? 0 : pg_complain(tx, *out, sql);
}

int pg_query_list(struct pg_rows **rows_out, struct pg_tx *tx, const char *sql, const struct pg_param *params,
                  size_t count)
{
    MIRE_SCOPED(pg_wire_fini) struct pg_wire wire;
    PGresult *result = NULL;
    int rc = pg_wire_init(&wire, params, count);
    if (!rc)
        rc = run(&result, tx, sql, &wire);
    struct pg_rows *rows = rc || !rows_out ? NULL : malloc(sizeof *rows);
    if (!rows) {
        PQclear(result);
        return rc || !rows_out ? rc : MIRE_FAULT_MEMORY;
    }
    rows->result = result;
    *rows_out = rows;
    return 0;
}

int pg_batch_begin(struct pg_tx *tx)
{
    tx->batched = 0;
    return 0;
}

int pg_batch_add(struct pg_tx *tx, const char *sql, const struct pg_param *params, size_t count)
{
    MIRE_SCOPED(pg_wire_fini) struct pg_wire wire;
    char name[16];
    int rc = pg_wire_init(&wire, params, count);
    /* Only before the first statement is the connection free to prepare; a batch usually repeats one statement. */
    if (!rc)
        rc = pg_prepared(name, tx, sql, &wire, tx->batched == 0);
    if (rc)
        return rc;
    if (tx->batched == 0 && !PQenterPipelineMode(tx->conn))
        return pg_complain(tx, NULL, sql);
    if (!pg_send(tx, name, sql, &wire)) {
        tx->broken = true; /* the number of bytes sent is unknown */
        return pg_complain(tx, NULL, sql);
    }
    tx->batched++;
    return 0;
}

/* Take in the result of one statement of a batch; *rc keeps the first fault. */
static void batch_result(struct pg_tx *tx, int64_t *count_out, int *rc)
{
    PGresult *result = pg_wait_result(tx);
    if (is_good(result)) {
        if (count_out)
            *count_out = strtoll(PQcmdTuples(result), NULL, 10);
    } else if (!*rc) {
        *rc = pg_complain(tx, result, "batch");
    }
    PQclear(result);
    while (PQstatus(tx->conn) == CONNECTION_OK && (result = pg_wait_result(tx)))
        PQclear(result);
}

int pg_batch_end(struct pg_tx *tx, int64_t *counts_out, size_t count)
{
    int rc = 0;
    int batched = tx->batched;

    tx->batched = 0;
    if (!batched)
        return 0;
    if (!PQpipelineSync(tx->conn)) {
        tx->broken = true;
        return pg_complain(tx, NULL, "batch");
    }
    for (int i = 0; i < batched && !tx->broken; i++)
        batch_result(tx, counts_out && (size_t)i < count ? &counts_out[i] : NULL, &rc);
    if (tx->broken)
        return rc;
    PGresult *sync = pg_wait_result(tx);
    /* Without the sync's answer nobody knows whether the batch was committed. */
    if (PQresultStatus(sync) != PGRES_PIPELINE_SYNC && !rc)
        rc = pg_complain(tx, sync, "batch");
    PQclear(sync);
    if (!PQexitPipelineMode(tx->conn))
        tx->broken = true;
    return rc;
}
