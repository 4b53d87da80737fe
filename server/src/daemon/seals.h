/*
 * seals.h - at the start: seals by the first key of the key file every secret that is not.
 */
#ifndef MIRE_DAEMON_SEALS_H
#define MIRE_DAEMON_SEALS_H

#include "base/log.h"
#include "base/vault.h"
#include "pg/pg.h"

/* Secrets that were stored open, or by another key of the file, are sealed anew. Those of a key that the file does not
 * have stay, and are logged. 0 or a fault. */
int seals_renew(struct pg *pg, const struct vault *vault, const struct log *log);

#endif
