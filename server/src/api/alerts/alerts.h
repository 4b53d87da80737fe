/* alerts.h - what the handlers of alerts share. Inside alerts/ only. */
#ifndef MIRE_API_ALERTS_ALERTS_H
#define MIRE_API_ALERTS_ALERTS_H

#include "api/call.h"
#include "model/alert.h"

struct alert_row;

#define MIRE_ALERT_DAYS 30 /* that a rule is tried on */

/* Members of the answers, as openapi.yaml has them. */
void alerts_put_rule(struct json_writer *w, const char *key, const struct alert_rule *rule);
void alerts_put_alert(struct json_writer *w, const char *key, const struct alert_row *alert);

/* Read the rule of the body. 0, CALL_REPLIED, or a fault. */
int alerts_read_rule(struct alert_rule *out, struct call *call);

/* Answer that the rule of the body is wrong, and why. CALL_REPLIED. */
int alerts_wrong(struct call *call, const char *text);

/* The number in the path's second parameter. 0 or CALL_REPLIED. */
int alerts_number(int64_t *out, struct call *call, const char *what);

/* End the change: commit, and answer an object with the number, or an empty one. */
int alerts_done(struct call *call, int64_t id);

#endif
