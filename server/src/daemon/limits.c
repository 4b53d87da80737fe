/*
 * limits.c - see limits.h.
 */
#include "daemon/limits.h"

#include "base/log.h"

#include <sys/resource.h>

#define KEPT  512 /* descriptors for the rest: database, files, debug files, connections on their way */
#define LEAST 16  /* clients served under any limit */

unsigned limits_raise_files(unsigned connections, const struct log *log)
{
    struct rlimit limit;
    rlim_t needed = (rlim_t)connections + KEPT;
    if (getrlimit(RLIMIT_NOFILE, &limit))
        return connections;
    if (limit.rlim_cur < needed && limit.rlim_cur < limit.rlim_max) {
        limit.rlim_cur = needed < limit.rlim_max ? needed : limit.rlim_max;
        if (setrlimit(RLIMIT_NOFILE, &limit) && getrlimit(RLIMIT_NOFILE, &limit))
            return connections;
    }
    if (limit.rlim_cur >= needed)
        return connections;
    unsigned fit = limit.rlim_cur > KEPT + LEAST ? (unsigned)(limit.rlim_cur - KEPT) : LEAST;
    log_event(
        log, MIRE_LOG_WARN, "mired.few_descriptors", LOG_NUMBER("connections_max", connections),
        LOG_NUMBER("served", fit), LOG_NUMBER("hard_limit", limit.rlim_max),
        LOG_TEXT("next", "Raise the hard limit of open files (LimitNOFILE=, ulimit -Hn) or lower connections_max."));
    return fit;
}
