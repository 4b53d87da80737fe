/*
 * modules.h - which libraries an app's reports have. Inside pipeline/ only.
 *
 * A library that one app alone has may be its own, wherever it lies; the page Rules proposes it (server/src/rows/module.h).
 * A worker remembers the rows that are stored, so that a report of known modules asks the database nothing.
 */
#ifndef MIRE_PIPELINE_MODULES_H
#define MIRE_PIPELINE_MODULES_H

#include <stdint.h>

struct item;

#define MIRE_MODULES_KNOWN 4096 /* a power of two */

struct modules {
    uint64_t known[MIRE_MODULES_KNOWN]; /* hashes of app, module and whether it was unowned; by their lowest bits */
};

/* Store the modules of a report, after its feature was found. 0 or a fault. */
int modules_store(struct modules *modules, const struct item *item);

#endif
