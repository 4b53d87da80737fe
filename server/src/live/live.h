/*
 * live.h - requests of pages that wait until something changes in their app.
 *
 *     page -> GET .../live?seen=ID -> live_wait -> the board
 *     one thread, every second while requests wait: rows_news_read for all their apps -> answer those of changed apps
 *
 * The answer is a server-sent event with an end. The browser's EventSource asks again with the id of the last event, so
 * the next request reports a change between the two at once. A proxy has nothing to buffer or to cut. Any of several
 * servers may answer. Nothing is read from the database while nobody waits. While the database is away, requests wait.
 */
#ifndef MIRE_LIVE_LIVE_H
#define MIRE_LIVE_LIVE_H

#include "http/http.h"
#include "rows/news.h"

#define MIRE_LIVE_MAX  1000 /* requests that wait; more are answered 503 */
#define MIRE_LIVE_EACH 100  /* of them of one asker; more are answered 429 */

struct live;
struct pg;

/* Start the thread. The pool is borrowed until live_free. 0 or a fault. */
int live_start(struct live **out, struct pg *pg);

/*
 * Answer when the news of the app are no longer `seen`, or after 50 seconds with the same. New reports alone are
 * announced five seconds after the request came, so that a page does not load again with every batch. `asker`: a number of
 * the person or address (access_asker); 0 has no limit of its own. MIRE_HTTP_LATER, or MIRE_HTTP_DONE with a problem in the
 * reply. Any thread.
 */
int live_wait(struct live *live, struct request *request, struct reply *reply, int32_t app, uint64_t asker,
              const struct news *seen);

/* Fill the reply with an event with these news. MIRE_HTTP_DONE, or a fault. */
int live_announce(struct reply *reply, const struct news *news);

/* Read the id of an event. False: it is none. */
bool live_parse(struct news *out, const char *id);

/* Answer all, end the thread, and let nobody wait any more. NULL is allowed. */
void live_stop(struct live *live);

/* After live_stop, when no request is left. NULL is allowed. */
void live_free(struct live *live);

/* Append counters in Prometheus' format. NULL is allowed. */
void live_metrics(struct live *live, struct text *out);

#endif
