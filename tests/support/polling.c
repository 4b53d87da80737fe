/* polling.c - a module that polls, for the test of the gate's patching. */
#include <poll.h>
#include <stddef.h>

int poll_once(void);
int poll_once(void)
{
    return poll(NULL, 0, 0);
}
