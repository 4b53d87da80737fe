/*
 * variant.h - what differs between the library an app links and the preload library. Each has a file of its own;
 * which one is linked decides. Private to core/.
 *
 *                libmire (variant_library.c)      libmire-preload (variant_preload.c)
 *     waiting    patched into the modules         found first by the loader
 *     sending    by the worker, with libcurl      by mire-run, outside the process
 */
#ifndef MIRE_CORE_VARIANT_H
#define MIRE_CORE_VARIANT_H

#include "core/options.h"
#include "store/store.h"

/* Make the waiting calls reach the gate, those of modules loaded since too, and undo it. */
enum mire_err mire__variant_hook(void);
void mire__variant_rehook(void);
void mire__variant_unhook(void);

/* Does anything have to be hooked again as modules come? */
bool mire__variant_rehooks(void);

/*
 * Sending: opened by mire_start, asked by the worker, cancelled by anyone, closed by mire_stop. `sender` is NULL where
 * nothing is to be sent.
 */
struct upload;
enum mire_err mire__variant_send_open(struct upload **sender_out, struct store *store, const mire_options *options);
uint64_t mire__variant_send_round(struct upload *sender, char *problem, size_t problem_bytes, uint64_t now_ms);
void mire__variant_send_cancel(struct upload *sender);
void mire__variant_send_close(struct upload *sender);

#endif
