/*
 * tracker.h - requests to the API of a tracker, and its answers.
 *
 * A ticket contains its id if the tracker can search for it, so that one that was made and not marked is found again:
 * GitHub and GitLab in a comment of the text, Jira as a label, Linear as the id of the ticket itself.
 */
#ifndef MIRE_TICKET_TRACKER_H
#define MIRE_TICKET_TRACKER_H

#include "alert/exchange.h"
#include "base/arena.h"
#include "rows/ticket.h"

#define MIRE_TRACKER_HEADERS 5
#define MIRE_TRACKER_MOST    (16u << 20) /* bytes of an answer */

struct tracker_request {
    struct exchange_ask ask;
    const char *headers[MIRE_TRACKER_HEADERS]; /* NULL-ended */
};

/* Is it a kind of tracker? */
bool tracker_is_known(const char *kind);

/* The request that makes a ticket. 0 or MIRE_FAULT_MEMORY. */
int tracker_make(struct tracker_request *out, struct arena *arena, const struct tracker_row *tracker,
                 const struct ticket_row *ticket);

/* The request that looks for it; page counts from 1. 0 or MIRE_FAULT_MEMORY. */
int tracker_look(struct tracker_request *out, struct arena *arena, const struct tracker_row *tracker,
                 const struct ticket_row *ticket, int page);

enum tracker_answer { TRACKER_NOT_THERE = 0, TRACKER_THERE = 1, TRACKER_MORE = 2, TRACKER_UNREADABLE = 3 };

/* Read an answer with 2xx to tracker_make: remote, name and url of the ticket. THERE, UNREADABLE or a fault. */
int tracker_made(struct ticket_row *ticket, struct arena *arena, const struct tracker_row *tracker,
                 const struct text *answer);

/* Read one to tracker_look: THERE as above, NOT_THERE, MORE (ask for the next page), UNREADABLE or a fault. */
int tracker_seen(struct ticket_row *ticket, struct arena *arena, const struct tracker_row *tracker,
                 const struct text *answer);

#endif
