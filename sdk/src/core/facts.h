/*
 * facts.h - the facts about app, device and process at the start of the watch. For core/ and preload/.
 */
#ifndef MIRE_CORE_FACTS_H
#define MIRE_CORE_FACTS_H

#include "core/options.h"
#include "exit/evidence.h"
#include "ring/blackbox.h"

/*
 * Collect all facts. Unknown ones stay empty or 0.
 *
 *   install  32 hex digits
 */
void mire__facts_collect(struct blackbox_facts *out, const mire_options *options, const char *install);

/*
 * The facts that each system reports in its own way (facts_linux.c, facts_android.c, facts_apple.c): the system and its
 * version, the model, the name of the process, and the build if the app set none. `out` has zeros, and the app's build.
 */
void mire__facts_of_system(struct blackbox_facts *out);

/* The release and the version of the kernel; `out` stays as it is where the system reports none. */
void mire__facts_of_kernel(char *out, size_t cap_bytes);

/* The folder below the user's home, or the app's, that keeps state and is in no backup: "/.local/state". Static. */
const char *mire__facts_state_folder(void);

/* Parts of it that every system has (facts_options.c): of the app, the app's own word on the device, and the begin of
 * the process. */
void mire__facts_of_app(struct blackbox_facts *out, const mire_options *options, const char *install);
void mire__facts_take_options(struct blackbox_facts *out, const mire_options *options);
void mire__facts_of_begin(struct blackbox_facts *out);

/* The facts by which the next start distinguishes this run from those before. */
void mire__facts_of_run(struct evidence_start *out, const struct blackbox_facts *facts);

#endif
