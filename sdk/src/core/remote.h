/*
 * remote.h - requests the rollout document from the server, and stores valid ones. Used by libmire's worker, and by
 * mire-run for the program that it runs. Private to core/ and preload/.
 */
#ifndef MIRE_CORE_REMOTE_H
#define MIRE_CORE_REMOTE_H

#include "ring/blackbox.h"
#include "upload/upload.h"

#define MIRE_REMOTE_PATH_BYTES 4096

/* The state of one client. */
struct remote {
    char path[MIRE_REMOTE_PATH_BYTES]; /* of the request, with facts of the installation, see schema/api/openapi.yaml */
    uint64_t due_ns;                   /* CLOCK_MONOTONIC, of the next request; 0: at once */
    uint32_t failures;                 /* in a row */
    bool killed;                       /* the stored document says kill: nothing is sent */
};

void mire__remote_init(struct remote *remote, const struct blackbox_facts *facts, struct store *store);

/*
 * Request the document if it is due: at the start, then at the document's interval, varied by a tenth so that devices
 * spread. After a failure the request is repeated in 1, 2, 4, ... minutes, but not later than the interval.
 *
 *   upload  NULL: there is no server, and the call has no effect; likewise while upload may not send
 *
 * Returns the time of the next request, UINT64_MAX: none.
 * Thread: the one that sends; takes as long as the network.
 */
uint64_t mire__remote_step(struct remote *remote, struct upload *upload, struct store *store, uint64_t now_ns,
                           const struct upload_now *now);

#endif
