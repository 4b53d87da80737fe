/*
 * loop_late.c - libuv by dlopen, before or after the watch begins, as argv[2] says. The program itself never waits.
 */
#include "planted.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

typedef struct timer timer;
typedef void callback(timer *);
static void *uv;

static void *find(const char *name)
{
    void *found = dlsym(uv, name);

    if (!found)
        exit(3);
    return found;
}

static int (*timer_start)(timer *, callback *, uint64_t, uint64_t);

static void end(timer *unused)
{
    (void)unused;
}

static void hang(timer *handle)
{
    planted_hang();
    timer_start(handle, end, HANG_MS + REST_MS, 0); /* the loop's clock did not advance during the hang */
}

static void open_uv(void)
{
    uv = dlopen("libuv.so.1", RTLD_NOW | RTLD_LOCAL);
}

int main(int argc, char **argv)
{
    void *loop, *handle;

    if (argc != 3)
        return 2;
    if (strcmp(argv[2], "before") == 0)
        open_uv();
    planted_start(argv);
    if (strcmp(argv[2], "after") == 0)
        open_uv();
    if (!uv)
        return 3;
    loop = ((void *(*)(void))find("uv_default_loop"))();
    handle = calloc(1, 4096);
    ((int (*)(void *, void *))find("uv_timer_init"))(loop, handle);
    timer_start = (int (*)(timer *, callback *, uint64_t, uint64_t))find("uv_timer_start");
    timer_start(handle, hang, IDLE_MS, 0);
    return ((int (*)(void *, int))find("uv_run"))(loop, 0);
}
