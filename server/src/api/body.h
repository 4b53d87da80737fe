/* body.h - reads the JSON object in the body of a change. */
#ifndef MIRE_API_BODY_H
#define MIRE_API_BODY_H

#include "http/http.h"
#include "json/bind.h"

#define MIRE_CHANGE_WHO_MAX 128  /* characters of an author */
#define MIRE_CHANGE_WHY_MAX 2000 /* of a reason */

/*
 * Fill the struct at `out`.
 *
 *   about  first part of the problems' codes: "rollout" of "rollout.malformed"
 *
 * 0, 1 (the reply is a problem), or a fault.
 */
int body_read(void *out, struct request *request, struct reply *reply, const struct bind_field *fields, size_t count,
              const char *about);

/* Read an array of at most `most` issues, such as ["I-1042"], into `issues`. For a field's `read`. */
enum bind_outcome body_issues(int64_t *issues, size_t *count_out, struct bind *bind, uint32_t at, uint32_t most);

#endif
