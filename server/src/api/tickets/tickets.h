/* tickets.h - what the handlers of tickets share. Inside api/ only. */
#ifndef MIRE_API_TICKETS_TICKETS_H
#define MIRE_API_TICKETS_TICKETS_H

#include "json/write.h"
#include "rows/ticket.h"

/* A ticket, as openapi.yaml has it; null if it is NULL. */
void tickets_put(struct json_writer *w, const char *key, const struct ticket_row *ticket);

#endif
