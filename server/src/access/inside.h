/*
 * inside.h - what the files of access/ share.
 *
 *     access_check: origin.c -> identify.c (who asks) -> access.c (may they) -> limits.c (how often)
 */
#ifndef MIRE_ACCESS_INSIDE_H
#define MIRE_ACCESS_INSIDE_H

#include "access/access.h"
#include "access/keys.h"

#include <pthread.h>
#include <stdatomic.h>

struct access {
    struct access_options options;
    pthread_mutex_t load_mutex; /* one thread loads; taken before `mutex` */
    pthread_mutex_t mutex;
    struct access_keys *keys;         /* guarded by mutex; replaced as a whole */
    uint64_t loaded_ns;               /* guarded by mutex; 0: never */
    uint64_t changes, loaded_changes; /* guarded by mutex; unequal: the loaded keys are out of date */
    struct buckets buckets;           /* guarded by mutex */
    _Atomic uint64_t refused, limited;
};

/* Who asks. */
struct asker {
    struct access_key key; /* kept for its limits and scope; zero where no key came */
    enum access_role role; /* of a person: in the app of the path, or on the server */
    bool is_person;        /* has an account, or is the user of this machine */
};

/* Results of identify besides MIRE_HTTP_BLOCKS and faults. */
enum identified {
    ASKER_KNOWN = MIRE_HTTP_SLOW + 1,
    ASKER_UNKNOWN, /* no credential */
    ASKER_REFUSED, /* an invalid credential */
    ASKER_LATER,   /* an unknown key, after too many unknown ones */
};

/* Find out who asks: *out, and request->grant. An enum identified, MIRE_HTTP_BLOCKS, or a fault. */
int access_identify(struct asker *out, struct access *access, struct request *request);

/* Read all keys again, unless another thread has since `seen_ns`. Blocks. 0 or a fault. */
int access_load(struct access *access, uint64_t seen_ns);

/* Are the loaded keys recent enough? Call with the mutex held. */
bool access_is_fresh(const struct access *access);

/* May all keys be read again because of an unknown one? */
bool access_may_seek(struct access *access);

/* The app in the path; "" if there is none. */
const char *access_app_of(const struct request *request);

/* The client's address: the last one in X-Forwarded-For that is not a trusted proxy's. */
void access_client_of(struct http_peer *out, const struct access *access, const struct request *request);
/* The client's country, if a trusted proxy sends two letters; otherwise "". */
void access_country_of(char out[3], const struct access *access, const struct request *request);
bool access_is_proxy(const struct access *access, const struct http_peer *peer);

/* Seconds until the request may be sent again; 0: it may go on. *what_out: the limit that it reached. */
unsigned access_take_tokens(const char **what_out, struct access *access, const struct request *request,
                            const struct access_key *key);

#endif
