/*
 * doctor.h - findings about configuration, files, database and queues: the state of each area, and the next step.
 * Changes nothing. Runs as `mired doctor`, beside a mired that serves, or in that one, for the page of its health.
 */
#ifndef MIRE_DAEMON_DOCTOR_H
#define MIRE_DAEMON_DOCTOR_H

#include "base/arena.h"
#include "daemon/config.h"
#include "model/finding.h"

struct pg_tx;

/* Print the findings, one a line: "ok", "look" (act soon) or "bad" (act now), with the next step. Returns the number of bad ones. */
int doctor_run(const struct config *config, FILE *out);

/* The same findings, without the OpenID provider's, for api.examine. `config` is a const struct config *. 0 or a fault. */
int doctor_examine(const void *config, struct findings *out, struct arena *arena, struct pg_tx *tx);

/* Add the finding about the sealed secrets (doctor_secrets.c). 0 or a fault. */
int doctor_add_secrets(struct findings *out, struct arena *arena, const struct config *config, struct pg_tx *tx);

/* Add the findings about the content of the database (doctor_rows.c). 0 or a fault. */
int doctor_add_rows(struct findings *out, struct arena *arena, const struct config *config, struct pg_tx *tx);

#endif
