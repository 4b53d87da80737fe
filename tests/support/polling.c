/* polling.c - a module that polls and looks names up, for the test of the gate's patching. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <poll.h>
#include <stddef.h>

int poll_once(void);
int poll_once(void)
{
    return poll(NULL, 0, 0);
}

void *look_up(const char *name);
void *look_up(const char *name)
{
    void *volatile found = dlsym(RTLD_DEFAULT, name); /* volatile: prevents a tail call */

    return found;
}
