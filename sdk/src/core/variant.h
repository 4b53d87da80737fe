/*
 * variant.h - the differences between libmire and libmire-preload. Each has a file of its own, chosen at link time.
 * Private to core/.
 *
 *                libmire (variant_library.c)      libmire-preload (variant_preload.c)
 *                and for Apple (variant_apple.c)
 *     hooks      patched into the modules         found first by the loader
 *     sending    by the worker, variant_send.c    by mire-run, outside the process
 *     rollout    requested by the worker          requested by mire-run; the worker checks for a new document
 */
#ifndef MIRE_CORE_VARIANT_H
#define MIRE_CORE_VARIANT_H

#include "core/options.h"
#include "ring/blackbox.h"
#include "store/store.h"

struct heap;

/* Under mire-run all is false but the last. */
extern const struct variant {
    bool recovers_launched; /* a process that a launcher started recovers dead ones; otherwise mire-run does */
    bool moves;             /* the store moves if the process can no longer write it; mire-run empties the outbox */
    bool rehooks;           /* new modules must be hooked */
    bool takes_numbers;     /* the rollout document's parameters apply; under mire-run the user's do */
    bool keeps_tables; /* the memory tables outlive a program that ends by itself: mire-run's user may look at them */
} mire__variant;

/*
 * Choose the C library of the library's threads and allocations (platform/own.h). Called before the first allocation,
 * and again in a forked child, which must not free the parent's blocks.
 */
void mire__variant_begin(void);

/* Hook the waiting calls; hook those of modules loaded since; unhook all. */
enum mire_err mire__variant_hook(void);
void mire__variant_rehook(void);
void mire__variant_unhook(void);

/*
 * May the library handle the quit signals? Not in mire-run's own program, which may examine its handlers after the
 * library's start; there the parent knows the signal.
 */
bool mire__variant_marks_quit(const mire_options *options);

/*
 * The calling thread is watched from now on, and no longer. Where loops report their turns, its run loop is observed.
 */
enum mire_err mire__variant_watch_thread(void);
void mire__variant_unwatch_thread(void);

/*
 * Hook the allocating calls; hook what was loaded or made since, on a thread of the SDK; unhook all.
 *   exits  the process exits, or unloads the library
 */
enum mire_err mire__variant_hook_heap(const struct memory_options *options);
void mire__variant_rehook_heap(const struct heap *heap);
void mire__variant_unhook_heap(bool exits);

/*
 * Hear the system: its diagnostics, where it hands them to a process that runs (mire_options_set_metrickit), and the frames
 * of its display (mire_options_set_display). End it. Thread: that of mire_start and of mire_stop.
 */
void mire__variant_subscribe(const mire_options *options);
void mire__variant_unsubscribe(void);

/*
 * Sending: opened by mire_start, driven by the worker, cancelled by any thread, closed by mire_stop. `sender` is NULL
 * if nothing is sent.
 */
struct remote;
enum mire_err mire__variant_send_open(struct upload **sender_out, struct remote *remote, struct store *store,
                                      const mire_options *options, const struct blackbox_facts *facts);
uint64_t mire__variant_send_round(struct upload *sender, char *problem, size_t problem_bytes,
                                  const struct upload_now *now);
void mire__variant_send_cancel(struct upload *sender);
void mire__variant_send_close(struct upload *sender);

/*
 * Update the rollout document in the store. Returns the time of the next call, CLOCK_MONOTONIC; UINT64_MAX: none.
 */
uint64_t mire__variant_ask(struct remote *remote, struct upload *sender, struct store *store,
                           const struct upload_now *now);

#endif
