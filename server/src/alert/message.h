/*
 * message.h - an alert in words: the finding, the page that shows it, and the link that acknowledges it.
 */
#ifndef MIRE_ALERT_MESSAGE_H
#define MIRE_ALERT_MESSAGE_H

#include "base/arena.h"
#include "base/id.h"
#include "model/alert.h"

struct alert_row;

/* The message of every channel, each in its format. */
struct alert_text {
    struct uuid id;       /* of the message: the same in every attempt */
    const char *occasion; /* fired, again, escalated, over, test */
    const char *app;      /* slug */
    const char *rule, *kind;
    int64_t alert; /* 0: a test */
    const char *subject;
    const char *title;   /* one line */
    const char *verdict; /* a sentence */
    const char *spark;
    const char *url;     /* absolute */
    const char *ack_url; /* absolute; NULL: nothing to acknowledge */
    double value, low, high, bound;
    int64_t at_us;
};

/* The sentence about a point. NULL: no memory. */
const char *alert_verdict_text(struct arena *arena, const struct alert_rule *rule, const struct alert_point *point);

/* Path of the page that shows it, with the days until now_us. NULL: no memory. */
const char *alert_page_path(struct arena *arena, const struct alert_rule *rule, const struct alert_point *point,
                            const char *slug, int64_t now_us);

/* Fill all of a message but id, urls and time from an alert. 0 or MIRE_FAULT_MEMORY. */
int alert_text_of(struct alert_text *out, struct arena *arena, const struct alert_row *alert, const char *rule,
                  enum alert_kind kind, const char *slug, const char *occasion);

/*
 * The body of a message in the format of a kind of channel: webhook, email and so on.
 * No secret is in it: hook_send adds pagerduty's routing key.
 * NULL: no memory, or no such kind.
 */
const char *alert_body(struct arena *arena, const char *kind, const struct alert_text *text);

/* Is it a kind of channel? */
bool alert_channel_is_known(const char *kind);

/* A member that must be 0 in a hook's answer with 2xx. NULL: none. */
const char *alert_answer_member(const char *kind);

/* --- acknowledging by a link --- */

#define MIRE_ACK_TOKEN 128
#define MIRE_ACK_S     (7 * 86400) /* a link is valid so long */

/*
 * "alert.channel.expiry.mac": signed with the alert's own key, so that a link acknowledges one alert and nothing else.
 */
void alert_ack_token(char out[MIRE_ACK_TOKEN], const uint8_t key[32], int64_t alert, int64_t channel,
                     int64_t expires_s);

/* The alert in a token, without checking the signature. False: it is no token. */
bool alert_ack_read(int64_t *alert, int64_t *channel, int64_t *expires_s, const char *token);

/* Is the token signed with this key, and not expired? */
bool alert_ack_is_good(const char *token, const uint8_t key[32], int64_t now_s);

#endif
