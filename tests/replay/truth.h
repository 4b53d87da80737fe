/*
 * truth.h - the promises made to the scenario, which are checked against the store afterwards.
 */
#ifndef MIRE_REPLAY_TRUTH_H
#define MIRE_REPLAY_TRUTH_H

#include "store/store.h"

#define TRUTH_REPORTS   32
#define TRUTH_COUNT_CAP 6u /* of the scenario's store */

enum told_state { NOT_YET, TRIED, ACKNOWLEDGED };

struct truth_report {
    char id[MIRE_STORE_ID_LENGTH + 1];
    bool made_up; /* its body is from truth_body */
    enum told_state sealed;
    enum told_state sent;               /* TRIED: the server has it, the store may not know */
    uint64_t losses[MIRE_DROP_REASONS]; /* losses that the server read in it */
};

struct truth {
    char install[33]; /* from the first sealed report; "" before, since nothing waited for the disk */
    uint32_t report_count;
    struct truth_report reports[TRUTH_REPORTS];
    uint64_t lost_acknowledged, lost_tried;       /* counted as refused */
    uint32_t rollout_acknowledged, rollout_tried; /* version; 0: none yet */
};

/* Make the body of a made-up report. Returns its size. */
#define TRUTH_BODY_MAX 4096
size_t truth_body(char out[TRUTH_BODY_MAX], const char *id);

/*
 * Run the app's life up to its end, which is a kill. `truth` is kept up to date, and each change is logged.
 *   dir  directory of the store
 */
void scenario_run(struct truth *truth, const char *dir, enum mire_store_sync sync);

#endif
