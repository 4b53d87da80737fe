/*
 * asking.h - requests of a command to the API about one app, and the answer to the last one. Inside cli/ only.
 */
#ifndef MIRE_CLI_ASKING_H
#define MIRE_CLI_ASKING_H

#include "base/text.h"
#include "json/json.h"

#include <stdbool.h>

struct asking {
    const char *command; /* in messages: "mire rules" */
    const char *server, *key, *app;
    struct text answer; /* to the last request */
    struct json json;   /* the same, read */
};

/* With server and key as the environment has them; options may set others. Pair with asking_end. */
struct asking asking_begin(const char *command);
void asking_end(struct asking *asking);

/* Is there a key, or a token of `mire login`? */
bool asking_has_key(const struct asking *asking);

/*
 * Send a request and read its answer. An error is printed. Result: an exit status.
 *
 *   method  NULL: GET
 *   path    begins behind the app's name; its values are escaped
 *   body    NULL: none
 */
int asking_send(struct asking *asking, const char *method, const char *path, const struct text *body);

/* The same for GET. */
int asking_get(struct asking *asking, const char *path);

/* Print the answer as it came. */
void asking_print(const struct asking *asking);

#endif
