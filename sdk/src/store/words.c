/*
 * words.c - messages of watched processes, one small file each, which mire-run prints.
 */
#include "platform/own.h"
#include "platform/platform.h"
#include "store/inside.h"

#include <dirent.h>
#include <stdio.h>
#include <string.h>

#define PREFIX     "words-"
#define NAME_BYTES 32

enum mire_err mire__store_say(struct store *store, const char *words)
{
    const struct disk_part part = {words, strnlen(words, MIRE_STORE_WORDS_BYTES - 1)};
    char name[NAME_BYTES];

    snprintf(name, sizeof(name), PREFIX "%u", mire__pid()); /* the last message of a process replaces earlier ones */
    return mire__store_save(store, name, &part, 1);
}

size_t mire__store_hear(struct store *store, void (*hear)(void *context, const char *words), void *context)
{
    char words[MIRE_STORE_WORDS_BYTES], name[NAME_BYTES], path[MIRE_STORE_PATH_MAX];
    DIR *dir = mire__own.opendir(store->dir);
    size_t count = 0;
    ssize_t size;

    if (!dir)
        return 0;
    for (struct dirent *entry; (entry = mire__own.readdir(dir));) {
        if (strncmp(entry->d_name, PREFIX, sizeof(PREFIX) - 1) != 0 || strlen(entry->d_name) >= sizeof(name))
            continue;
        mire__text_copy(name, sizeof(name), entry->d_name);
        size = mire__store_load(store, name, words, sizeof(words) - 1);
        if (size <= 0 || !mire__store_path(path, store, name, "") || !mire__store_remove(store, path))
            continue;
        words[size] = '\0';
        hear(context, words);
        count++;
    }
    mire__own.closedir(dir);
    return count;
}
