/*
 * ping.h - a loop that is asked whether it still runs: when to ask, and what its answers say.
 *
 *     alive            posted                        answered
 *       |--- slack ------|------------ age -------------|
 *                        the loop did not come to the token for `age`, and maybe for `slack` more before it
 *
 * A token is posted an interval after the one before, or as soon as that is answered if it took longer. It has waited
 * since it surely was in the queue (after post returned); the loop was alive when it answered the one before. Both
 * instants are stamped where they happen, so that a late look changes neither. The odds of missing a hang follow from
 * this, see mire/ping.h.
 *
 * `struct ping` is the asking side, pure and the check thread's own. `struct ping_words` is what the loop's thread
 * stores to; the two meet as the gate's words do (gate.c).
 */
#ifndef MIRE_GATE_PING_H
#define MIRE_GATE_PING_H

#include "base/base.h"

/* What the loop has answered last. */
struct ping_answer {
    uint64_t token; /* 0: nothing yet */
    uint64_t at_ns;
};

struct ping {
    uint64_t interval_ns;
    uint64_t token;     /* posted last, 0 before the first */
    uint64_t posted_ns; /* by then it was in the queue */
    uint64_t slack_ns;  /* from the last sign of life before it to posted_ns */
    uint64_t alive_ns;  /* the last instant at which the loop is known to have run */
    uint64_t late_ns;   /* since posted_ns, in which no thread of the process could run */
    uint64_t due_ns;    /* of the next post */
    bool waiting;       /* for an answer to `token` */
};

/*
 * Begin to ask.
 *   interval_ns  1 or more
 *   now_ns       monotonic clock, here and below. The loop is taken to be alive now; the first token is due
 */
void mire__ping_init(struct ping *ping, uint64_t interval_ns, uint64_t now_ns);

/* Is it time to post a token? Never while one is waited for. */
bool mire__ping_is_due(const struct ping *ping, uint64_t now_ns);

/* A token was posted; now_ns is taken after that. False: the queue did not take it, another is due in an interval. */
void mire__ping_posted(struct ping *ping, uint64_t token, bool queued, uint64_t now_ns);

/* Look at the answer. True: the token waited for is answered; age and slack speak of it until the next is posted. */
bool mire__ping_see(struct ping *ping, const struct ping_answer *answer);

/* Time in which the whole process stood still is nobody's hang. */
void mire__ping_excuse(struct ping *ping, uint64_t late_ns);

/* The token waited for counts from at_ns on, if that is later than its post; then nothing lies before it. */
void mire__ping_count_from(struct ping *ping, uint64_t at_ns);

/* How long the token has waited, or did wait, at least, time excused left out; and the most that may be added to it. */
uint64_t mire__ping_age_ns(const struct ping *ping, uint64_t now_ns);
uint64_t mire__ping_slack_ns(const struct ping *ping);

/*
 * When to look next: when a token is due, or the one that is waited for will have waited for patience_ns; UINT64_MAX
 * once it has.
 */
uint64_t mire__ping_next_ns(const struct ping *ping, uint64_t patience_ns, uint64_t now_ns);

/*
 * Has the token waited for patience_ns, or until the next one was due? Then its answer should wake the check thread
 * (mire__ping_words_ask), so that the next one follows at once: while the loop runs no two posts lie further apart than
 * the interval.
 */
bool mire__ping_is_slow(const struct ping *ping, uint64_t patience_ns, uint64_t now_ns);

/* ---- what the loop's thread stores to ---- */

struct ping_words {
    _Atomic uint64_t token;       /* check thread: the one that is waited for, 0 if none */
    _Atomic uint64_t answered;    /* loop */
    _Atomic uint64_t answered_ns; /* loop, before `answered` */
    _Atomic uint32_t asked;       /* both: the answer is to wake the check thread */
    _Atomic uint32_t *wake;       /* futex word, static; written before the first token */
};

/* Wait for a token; to be called before it is posted. 0: for none. Thread: check thread, as the next two. */
void mire__ping_words_expect(struct ping_words *words, uint64_t token);

/* What was answered last. */
void mire__ping_words_read(struct ping_answer *out, const struct ping_words *words);

/* Have the answer raise and wake `wake`. False: it is there already. */
bool mire__ping_words_ask(struct ping_words *words);

/* The loop's thread has come to a token. False: it is not the one waited for. Signal handler: yes. */
bool mire__ping_words_as_answer(struct ping_words *words, uint64_t token, uint64_t now_ns);

#endif
