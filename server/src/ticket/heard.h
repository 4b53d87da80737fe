/*
 * heard.h - a call of a tracker's webhook: its signature, and its news of a ticket.
 */
#ifndef MIRE_TICKET_HEARD_H
#define MIRE_TICKET_HEARD_H

#include "base/arena.h"

#include <stdbool.h>
#include <stdint.h>

/* The header with the signature of a call; of gitlab with the token. NULL: no such kind. */
const char *heard_header(const char *kind);

/* Is the call signed with the secret? `value` is that of the header, NULL if it is absent. Takes as long for every
 * wrong one of the same length. */
bool heard_is_signed(const char *kind, const char *secret, const char *value, const void *body, size_t len);

struct heard {
    const char *remote; /* ticket.remote_id */
    bool closed;
    int64_t at_us; /* of the change, by the tracker's clock */
};

enum heard_outcome { HEARD_NOTHING = 0, HEARD_STATE = 1, HEARD_MALFORMED = 2 };

/* Read a call: HEARD_STATE with the ticket's state, HEARD_NOTHING (of another matter), HEARD_MALFORMED or a fault. */
int heard_read(struct heard *out, struct arena *arena, const char *kind, const void *body, size_t len);

#endif
