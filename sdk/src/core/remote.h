/*
 * remote.h - asks the server for the rollout document, and keeps the good ones in the store. By libmire's worker, or by
 * mire-run for the program it runs. Private to core/ and preload/.
 */
#ifndef MIRE_CORE_REMOTE_H
#define MIRE_CORE_REMOTE_H

#include "ring/blackbox.h"
#include "upload/upload.h"

#define MIRE_REMOTE_PATH_BYTES 4096

/* One asker's state; its own. */
struct remote {
    char path[MIRE_REMOTE_PATH_BYTES]; /* of the request: what this installation is, see schema/api/openapi.yaml */
    uint64_t due_ns;                   /* CLOCK_MONOTONIC; 0 at first: at once */
    uint32_t failures;                 /* in a row */
    bool killed;                       /* the document in the store says kill: nothing is to be sent */
};

void mire__remote_init(struct remote *remote, const struct blackbox_facts *facts, struct store *store);

/*
 * Ask if it is due: once at the start, then as often as the document says, give or take a tenth, so that a crowd of
 * devices spreads. After a failure again in a minute, then two, four, ... but not later than the document says.
 *
 *   upload  NULL: there is no server, and nothing is done; nor is it while upload may not ask
 *
 * Returns when it is due next, UINT64_MAX for never.
 * Thread: the one that sends; takes as long as the network does.
 */
uint64_t mire__remote_step(struct remote *remote, struct upload *upload, struct store *store, uint64_t now_ns,
                           const struct upload_now *now);

#endif
