/*
 * rollout.h - the rollout document of the server: which plugins are on, in which fraction, with which parameters.
 *
 *     document (schema/wire/rollout.schema.json) -> mire__rollout_read -> struct rollout
 *                                                                           `-> mire__rollout_decide, per plugin
 *
 * Parameters are limited to compiled bounds, and unknown members are ignored. A malformed document is refused as a
 * whole, so that the last valid one holds. Pure.
 * Thread: any.  Signal handler: no.
 */
#ifndef MIRE_ROLLOUT_ROLLOUT_H
#define MIRE_ROLLOUT_ROLLOUT_H

#include "base/base.h"
#include "wire/limits.h"
#include "wire/plugin.h"

#define MIRE_ROLLOUT_NAME_BYTES  32 /* of a parameter's name, its end included; longer ones are ignored */
#define MIRE_ROLLOUT_NUMBERS_MAX 32 /* numbers of the hang plugin in one document; there are fewer settings */
#define MIRE_ROLLOUT_SALT_BYTES  (MIRE_WIRE_SALT_MAX + 1)
#define MIRE_LEAVE_OUT_BYTES     (MIRE_WIRE_LEAVE_OUT_MAX + 1)

/* Interval of requests until a document sets another. */
#define MIRE_ROLLOUT_FETCH_S 3600u

/* A setting of capturing (capture/settings.h) by its name. */
struct rollout_number {
    char name[MIRE_ROLLOUT_NAME_BYTES];
    uint32_t value;
};

enum mire__rollout_mode { MIRE_ROLLOUT_AS_SET, MIRE_ROLLOUT_OFF, MIRE_ROLLOUT_SAMPLED, MIRE_ROLLOUT_EXACT };

/* Numbers of the memory plugin; 0: the document has no value. Within the bounds of base/limits.h. */
struct rollout_memory {
    enum mire__rollout_mode mode;
    uint64_t interval_bytes;
    uint64_t budget_bytes;
};

struct rollout_plugin {
    bool known;   /* the document mentions it; false: the app's options hold */
    uint32_t ppm; /* share of installations in which it is on, 0..1000000 */
    char salt[MIRE_ROLLOUT_SALT_BYTES];
};

struct rollout {
    uint64_t version; /* 0: no document */
    uint32_t fetch_s; /* MIRE_ROLLOUT_FETCH_MIN_S..MIRE_ROLLOUT_FETCH_MAX_S */
    bool kill;        /* everything off, nothing sent; the document is still requested */
    struct rollout_plugin plugins[MIRE_PLUGINS];
    struct rollout_number numbers[MIRE_ROLLOUT_NUMBERS_MAX];
    uint32_t number_count;
    struct rollout_memory memory;
    char leave_out[MIRE_LEAVE_OUT_BYTES]; /* parts of the context, words with blanks between (report/left_out.h) */
};

/* No document: every plugin as the app's options say. */
void mire__rollout_init(struct rollout *rollout);

/*
 * Read a document.
 *
 *   out   as mire__rollout_init makes it unless MIRE_OK
 *   text  `size` bytes, untrusted
 *
 * Returns MIRE_OK, MIRE_E_FORMAT (not JSON, of another format version, a field of the wrong kind, or larger than
 * MIRE_WIRE_ROLLOUT_MAX).
 */
enum mire_err mire__rollout_read(struct rollout *out, const char *text, size_t size);

/*
 * Is a plugin on for an installation?
 *
 *   ppm_out   share of installations in which it is on; 0: off for all
 *   install   32 hex digits
 *   own_ppm   the app's share, for plugins that the document does not mention; a kill overrides it
 */
bool mire__rollout_decide(uint32_t *ppm_out, const struct rollout *rollout, enum mire__plugin plugin,
                          const char *install, uint32_t own_ppm);

#endif
