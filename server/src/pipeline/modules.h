/*
 * modules.h - the libraries in an app's reports. Inside pipeline/ only.
 *
 * A library that only one app has may be the app's own, also outside its directory; the page Rules proposes it
 * (server/src/rows/module.h). A worker remembers the stored rows, so a report with known modules needs no statement.
 */
#ifndef MIRE_PIPELINE_MODULES_H
#define MIRE_PIPELINE_MODULES_H

#include <stddef.h>
#include <stdint.h>

struct item;

#define MIRE_MODULES_KNOWN   4096 /* a power of two */
#define MIRE_MODULES_A_BATCH 256  /* modules stored at once; the others are stored with a later batch */

struct modules {
    uint64_t known[MIRE_MODULES_KNOWN]; /* hashes of app, module and `unowned`, by their lowest bits */
};

/* Store the modules of a batch's reports, which are of one app, after their features were found. 0 or a fault. */
int modules_store(struct modules *modules, struct item *const *items, size_t count);

#endif
