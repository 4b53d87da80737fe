/*
 * ping.h - pings of a loop: when to post a token, and the meaning of its answer.
 *
 *     alive            posted                        answered
 *       |--- slack ------|------------ age -------------|
 *                        the loop did not reach the token for `age`, and possibly for up to `slack` before it
 *
 * A token is posted one interval after the last one, or when the last one is answered if that is later. Its age counts
 * from the return of post, when it was in the queue; the loop was alive at its last answer. Both times are taken where
 * they happen, so that a late look changes neither. mire/ping.h derives the probability of missing a hang.
 *
 * `struct ping` is the state of the check thread, pure. `struct ping_words` is shared with the loop's thread, with the
 * same protocol as the gate's words (gate.c).
 */
#ifndef MIRE_GATE_PING_H
#define MIRE_GATE_PING_H

#include "base/base.h"

/* The last answer of the loop. */
struct ping_answer {
    uint64_t token; /* 0: none yet */
    uint64_t at_ns;
};

struct ping {
    uint64_t interval_ns;
    uint64_t token;     /* the last token; 0 before the first */
    uint64_t posted_ns; /* when it was in the queue */
    uint64_t slack_ns;  /* from the last sign of life before it to posted_ns */
    uint64_t alive_ns;  /* the last time at which the loop is known to have run */
    uint64_t late_ns;   /* time since posted_ns in which no thread of the process could run */
    uint64_t due_ns;    /* of the next post */
    bool waiting;       /* `token` is unanswered */
};

/*
 * Begin.
 *   interval_ns  1 or more
 *   now_ns       monotonic clock, here and below. The loop counts as alive now, and the first token is due
 */
void mire__ping_init(struct ping *ping, uint64_t interval_ns, uint64_t now_ns);

/* Is a post due? Never while a token is unanswered. */
bool mire__ping_is_due(const struct ping *ping, uint64_t now_ns);

/* A token was posted; now_ns is read afterwards. queued false: the next post is due in one interval. */
void mire__ping_posted(struct ping *ping, uint64_t token, bool queued, uint64_t now_ns);

/* Read the answer. True: the token is answered; age and slack are its until the next post. */
bool mire__ping_see(struct ping *ping, const struct ping_answer *answer);

/* Excuse time in which the whole process was suspended. */
void mire__ping_excuse(struct ping *ping, uint64_t late_ns);

/* Count the age of the token from at_ns on, if that is after its post; the slack is then 0. */
void mire__ping_count_from(struct ping *ping, uint64_t at_ns);

/* The age of the token at its answer or now, without excused time; and the possible time before it. */
uint64_t mire__ping_age_ns(const struct ping *ping, uint64_t now_ns);
uint64_t mire__ping_slack_ns(const struct ping *ping);

/*
 * The time of the next look: when a token is due, or when the unanswered one is patience_ns old; UINT64_MAX once it is.
 */
uint64_t mire__ping_next_ns(const struct ping *ping, uint64_t patience_ns, uint64_t now_ns);

/*
 * Is the token patience_ns old, or is the next one due? Then its answer should wake the check thread
 * (mire__ping_words_ask), so that the next one follows at once: posts to a running loop are at most one interval apart.
 */
bool mire__ping_is_slow(const struct ping *ping, uint64_t patience_ns, uint64_t now_ns);

/* ---- words shared with the loop's thread ---- */

struct ping_words {
    _Atomic uint64_t token;       /* check thread: the unanswered token; 0: none */
    _Atomic uint64_t answered;    /* loop */
    _Atomic uint64_t answered_ns; /* loop, before `answered` */
    _Atomic uint32_t asked;       /* both: the answer must wake the check thread */
    _Atomic uint32_t *wake;       /* futex word, static; written before the first token */
};

/* Expect a token; called before its post. 0: none. Thread: check thread, as the next two. */
void mire__ping_words_expect(struct ping_words *words, uint64_t token);

/* The last answer. */
void mire__ping_words_read(struct ping_answer *out, const struct ping_words *words);

/* Have the answer raise and wake `wake`. False: the answer is there already. */
bool mire__ping_words_ask(struct ping_words *words);

/* The loop's thread has reached a token. False: it is not the expected one. Signal handler: yes. */
bool mire__ping_words_as_answer(struct ping_words *words, uint64_t token, uint64_t now_ns);

#endif
