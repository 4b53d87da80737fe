/* ask_select.c - asking select and pselect whether something is there already. Signal-safe. */
#include "gate/hooks.h"

#include <string.h>

/* The sets of a call that may have to be made again. */
struct kept_sets {
    fd_set sets[3];
    size_t bytes; /* of each, as the kernel reads and writes them */
};

/* False: the program's sets are larger than these. */
static bool keep_sets(struct kept_sets *kept, int count, fd_set *const given[3])
{
    if (count < 0 || count > FD_SETSIZE)
        return false;
    kept->bytes = ((size_t)count + NFDBITS - 1) / NFDBITS * sizeof(fd_mask);
    for (int i = 0; i < 3; i++) {
        if (given[i])
            memcpy(&kept->sets[i], given[i], kept->bytes);
    }
    return true;
}

static void put_sets_back(const struct kept_sets *kept, fd_set *const given[3])
{
    for (int i = 0; i < 3; i++) {
        if (given[i])
            memcpy(given[i], &kept->sets[i], kept->bytes);
    }
}

int mire__hook_ask_select(int (*real)(int, fd_set *, fd_set *, fd_set *, struct timeval *), int count, fd_set *in,
                          fd_set *out, fd_set *err, struct timeval *timeout)
{
    struct timeval first = {0, MIRE_WAIT_SHORT_MS * 1000};
    fd_set *given[3] = {in, out, err};
    struct kept_sets kept;
    int answer;

    if (!keep_sets(&kept, count, given))
        return 0;
    answer = real(count, in, out, err, &first);
    if (answer == 0)
        put_sets_back(&kept, given);
    if (timeout) { /* Linux's select leaves the remaining time there */
        timeout->tv_usec -= MIRE_WAIT_SHORT_MS * 1000 - first.tv_usec;
        if (timeout->tv_usec < 0) {
            timeout->tv_usec += 1000000;
            timeout->tv_sec--;
        }
    }
    return answer;
}

int mire__hook_ask_pselect(int (*real)(int, fd_set *, fd_set *, fd_set *, const struct timespec *, const sigset_t *),
                           int count, fd_set *in, fd_set *out, fd_set *err, const sigset_t *mask)
{
    fd_set *given[3] = {in, out, err};
    struct kept_sets kept;
    int answer;

    if (!keep_sets(&kept, count, given))
        return 0;
    answer = real(count, in, out, err, &mire__no_time, mask);
    if (answer == 0)
        put_sets_back(&kept, given);
    return answer;
}
