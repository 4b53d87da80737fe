/*
 * store_location.c - see store_location.h.
 */
#include "core/store_location.h"

#include "core/facts.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define SHARED "/var/tmp/mire-"

/* The app's name as a file name: characters that lead to other directories become '_'. */
static void file_name(char out[MIRE_NAME_BYTES], const char *name)
{
    mire__text_copy(out, MIRE_NAME_BYTES, name);
    for (char *at = out; *at; at++)
        if (*at == '/' || (*at == '.' && at == out))
            *at = '_';
}

bool mire__store_location_of_user(char out[MIRE_STORE_PATH_MAX], uint32_t uid, const char *name)
{
    char file[MIRE_NAME_BYTES];
    int length;

    file_name(file, name);
    length = snprintf(out, MIRE_STORE_PATH_MAX, SHARED "%u/%s", (unsigned)uid, file);
    return length > 0 && length < MIRE_STORE_PATH_MAX;
}

/* Any user may create files in /var/tmp: does this directory belong to this user? It is created if absent. */
static bool is_ours(const char *path)
{
    char top[MIRE_STORE_PATH_MAX];
    struct stat info;

    mire__text_copy(top, sizeof(top), path);
    *strrchr(top, '/') = '\0';
    if (mkdir(top, 0700) != 0 && errno != EEXIST)
        return false;
    return lstat(top, &info) == 0 && S_ISDIR(info.st_mode) && info.st_uid == geteuid() && !(info.st_mode & 022);
}

static bool below(char out[MIRE_STORE_PATH_MAX], const char *base, const char *between, const char *app)
{
    char file[MIRE_NAME_BYTES];
    int length;

    file_name(file, app);
    length = base && base[0] == '/' ? snprintf(out, MIRE_STORE_PATH_MAX, "%s%s/mire/%s", base, between, file) : 0;
    return length > 0 && length < MIRE_STORE_PATH_MAX;
}

static enum mire_err try_dir(struct store **store_out, const char *path, const mire_options *options)
{
    if (strncmp(path, SHARED, sizeof(SHARED) - 1) == 0 && !is_ours(path))
        return MIRE_E_STORE;
    return mire__store_open(store_out, path, &options->store_caps);
}

static enum mire_err open_first(struct store **store_out, char dir[MIRE_STORE_PATH_MAX], const mire_options *options)
{
    enum mire_err err = MIRE_E_STORE;

    if (options->store_dir[0]) {
        mire__text_copy(dir, MIRE_STORE_PATH_MAX, options->store_dir);
        err = mire__store_open(store_out, dir, &options->store_caps);
        if (err == MIRE_E_STORE && options->store_others[0] &&
            mire__store_location_of_user(dir, geteuid(), options->store_others))
            err = try_dir(store_out, dir, options);
        return err;
    }
    if (below(dir, getenv("XDG_STATE_HOME"), "", options->app_name))
        err = try_dir(store_out, dir, options);
    if (err == MIRE_E_STORE && below(dir, getenv("HOME"), mire__facts_state_folder(), options->app_name))
        err = try_dir(store_out, dir, options);
    if (err == MIRE_E_STORE && mire__store_location_of_user(dir, geteuid(), options->app_name))
        err = try_dir(store_out, dir, options);
    return err;
}

enum mire_err mire__store_location_open(struct store **store_out, char dir[MIRE_STORE_PATH_MAX],
                                        const mire_options *options)
{
    enum mire_err err;

    *store_out = NULL;
    err = open_first(store_out, dir, options);
    if (err == MIRE_OK)
        mire__store_set_sync(*store_out, options->store_sync);
    return err;
}

bool mire__store_location_move(struct store *store, const mire_options *options)
{
    char dir[MIRE_STORE_PATH_MAX];
    const char *name = options->store_others[0] ? options->store_others : options->app_name;

    return mire__store_location_of_user(dir, geteuid(), name) && is_ours(dir) &&
           mire__store_move(store, dir) == MIRE_OK;
}
