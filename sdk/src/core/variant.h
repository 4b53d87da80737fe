/*
 * variant.h - what differs between the library an app links and the preload library. Each has a file of its own;
 * which one is linked decides. Private to core/.
 *
 *                libmire (variant_library.c)      libmire-preload (variant_preload.c)
 *     waiting    patched into the modules         found first by the loader
 *     sending    by the worker, with libcurl      by mire-run, outside the process
 *     rollout    asked for by the worker          asked for by mire-run; the worker looks whether it is another one
 */
#ifndef MIRE_CORE_VARIANT_H
#define MIRE_CORE_VARIANT_H

#include "core/options.h"
#include "ring/blackbox.h"
#include "store/store.h"

/*
 * Before anything of ours is allocated, and again in a forked child, where what the parent's process had allocated is
 * not to be freed: whose C library our threads and allocations are (platform/own.h).
 */
void mire__variant_begin(void);

/* Make the waiting calls reach the gate, those of modules loaded since too, and undo it. */
enum mire_err mire__variant_hook(void);
void mire__variant_rehook(void);
void mire__variant_unhook(void);

/*
 * May the signals that quit be marked? Not under mire-run for its own program, which looks at its handlers after we
 * came: there the parent knows.
 */
bool mire__variant_marks_quit(const mire_options *options);

/* The same for the calls that allocate. exits: the process, or it unloads the library. */
enum mire_err mire__variant_hook_heap(void);
void mire__variant_unhook_heap(bool exits);

/*
 * Are the memory tables of a program that ends by itself kept, as those of one that is killed are? Under mire-run they
 * are: who runs a program that way may want to see what it held at its end.
 */
bool mire__variant_keeps_tables(void);

/*
 * Does this process recover what dead ones left? Not under mire-run for its own program: mire-run has just done so, and
 * will again when the program has ended.
 */
bool mire__variant_recovers(const mire_options *options);

/*
 * Does the store go on elsewhere where the process may not write it any more? Not under mire-run, which takes what
 * waits in the outbox (store/outbox.h).
 */
bool mire__variant_moves(void);

/* Does anything have to be hooked again as modules come? */
bool mire__variant_rehooks(void);

/*
 * Sending: opened by mire_start, asked by the worker, cancelled by anyone, closed by mire_stop. `sender` is NULL where
 * nothing is to be sent.
 */
struct remote;
enum mire_err mire__variant_send_open(struct upload **sender_out, struct remote *remote, struct store *store,
                                      const mire_options *options, const struct blackbox_facts *facts);
uint64_t mire__variant_send_round(struct upload *sender, char *problem, size_t problem_bytes,
                                  const struct upload_now *now);
void mire__variant_send_cancel(struct upload *sender);
void mire__variant_send_close(struct upload *sender);

/*
 * The rollout document: see that the store has the newest. Returns when to look again, CLOCK_MONOTONIC; UINT64_MAX:
 * never. And whether its numbers hold: under mire-run those do that its user has given.
 */
uint64_t mire__variant_ask(struct remote *remote, struct upload *sender, struct store *store,
                           const struct upload_now *now);
bool mire__variant_takes_numbers(void);

#endif
