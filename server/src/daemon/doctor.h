/*
 * doctor.h - `mired doctor`: looks at configuration, files, database and queues, and says for each what is wrong and what
 * to do next. Changes nothing; runs beside a mired that serves.
 */
#ifndef MIRE_DAEMON_DOCTOR_H
#define MIRE_DAEMON_DOCTOR_H

#include "daemon/config.h"

/* Print the findings, one a line: "ok", "look" (act soon) or "bad" (act now), with the next step. Returns the number of bad ones. */
int doctor_run(const struct config *config, FILE *out);

#endif
