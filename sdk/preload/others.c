/*
 * others.c - see others.h.
 */
#include "preload/others.h"

#include "core/store_location.h"
#include "platform/platform.h"

#include <dirent.h>
#include <grp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/fsuid.h>
#include <sys/stat.h>
#include <unistd.h>

#define PLACE  "/var/tmp"
#define PREFIX "mire-"

void others_init(struct other_users *others, const mire_options *options, struct store *store)
{
    char install[33];

    memset(others, 0, sizeof(*others));
    others->options = options;
    if (geteuid() == 0 && mire__store_install(install, store) == MIRE_OK)
        snprintf(others->name, sizeof(others->name), "%.100s-%.8s", options->app_name, install);
}

/* The user of a directory in /var/tmp by its name; 0: none, or the name does not match the owner. */
static uint32_t user_of(const char *name)
{
    char path[sizeof(PLACE) + 256], *end;
    unsigned long uid =
        strncmp(name, PREFIX, sizeof(PREFIX) - 1) == 0 ? strtoul(name + sizeof(PREFIX) - 1, &end, 10) : 0;
    struct stat info;

    if (uid == 0 || uid > UINT32_MAX || *end)
        return 0;
    snprintf(path, sizeof(path), PLACE "/%s", name);
    return lstat(path, &info) == 0 && S_ISDIR(info.st_mode) && info.st_uid == uid ? (uint32_t)uid : 0;
}

static bool is_known(const struct other_users *others, uint32_t uid)
{
    for (size_t i = 0; i < others->count; i++)
        if (others->couriers[i].user == uid)
            return true;
    return false;
}

/* Opened as the user, so that nothing is created or followed that the user could not create or follow. */
static struct store *open_as(uint32_t uid, const char *name)
{
    const struct store_caps caps = MIRE_STORE_CAPS_INIT;
    char dir[MIRE_STORE_PATH_MAX];
    struct store *store = NULL;
    struct stat info;

    if (!mire__store_location_of_user(dir, uid, name))
        return NULL;
    setfsuid(uid);
    if (lstat(dir, &info) == 0 && S_ISDIR(info.st_mode))
        mire__store_open(&store, dir, &caps);
    setfsuid(0);
    return store;
}

static void add(struct other_users *others, uint32_t uid)
{
    struct courier *courier = &others->couriers[others->count];
    const mire_options *options = others->options;

    *courier = (struct courier){.user = uid, .store = open_as(uid, others->name), .session = others->session};
    if (!courier->store)
        return;
    courier_open(courier, options); /* without memory its reports stay where they are */
    if (courier_start(courier) == MIRE_OK) {
        others->count++;
        return;
    }
    mire__upload_close(courier->upload);
    mire__store_close(courier->store);
}

void others_look(struct other_users *others)
{
    DIR *dir = others->name[0] ? opendir(PLACE) : NULL;

    if (!dir)
        return;
    for (struct dirent *entry; others->count < MIRE_OTHERS_MAX && (entry = readdir(dir));) {
        uint32_t uid = user_of(entry->d_name);
        if (uid && !is_known(others, uid))
            add(others, uid);
    }
    closedir(dir);
}

void others_finish(struct other_users *others, struct store *store, struct upload_tally *total,
                   struct report_unkept *unkept)
{
    for (size_t i = 0; i < others->count; i++) {
        struct courier *courier = &others->couriers[i];

        courier_finish(courier, others->patience_ms);
        if (courier->share.size > 0)
            mire__session_fold(store, others->session, &courier->share, false);
        unkept->reports += courier->unkept.reports;
        unkept->why = courier->unkept.reports > 0 ? courier->unkept.why : unkept->why;
        total->sent += courier->total.sent;
        total->refused += courier->total.refused;
        total->broken += courier->total.broken;
        total->waiting += courier->total.waiting;
        if (courier->total.last.status || courier->total.last.problem[0])
            total->last = courier->total.last;
        mire__upload_close(courier->upload);
        mire__store_close(courier->store);
    }
    others->count = 0;
}
