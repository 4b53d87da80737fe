/*
 * distribute.h - spreads the tables over the machines of a Citus cluster, by slot.
 */
#ifndef MIRE_POSTGRES_DISTRIBUTE_H
#define MIRE_POSTGRES_DISTRIBUTE_H

#include "pg/pg.h"

/*
 * Spread each table that is not spread yet: by slot where its key leads with slot, all of these together, so that rows
 * of one slot are on one machine; otherwise as a copy on every machine. The list of applied files stays with the
 * coordinator.
 *
 *   is_asked  false: only if the database is spread already, for tables that a newer program has added
 *
 * 0, or a fault. MIRE_FAULT_BROKEN, logged: the database has no Citus.
 */
int pg_distribute(struct pg *pg, bool is_asked, const struct log *log);

/* Is the database spread? 1, 0, or a fault. */
int pg_is_distributed(struct pg *pg);

#endif
