/*
 * symbols_find.h - debug files at and below paths, also inside archives.
 */
#ifndef MIRE_CLI_SYMBOLS_FIND_H
#define MIRE_CLI_SYMBOLS_FIND_H

#include "archive/contents.h"
#include "object/maps.h"

struct found_file {
    char *path; /* of the file, or of its archive */
    struct contents_item item;
    struct contents_version version; /* of a mapping alone in an .aab or .apk: the app's, by its manifest */
    int fd;                          /* of the unpacked archive, shared by its files; -1: open `path` */
    bool missing;                    /* the server lacks it, or has other content; set by symbols_ask_missing */
    char defect[MIRE_SYMBOL_WHY];    /* damaged parts of the same content at the server; "": none */
};

struct found {
    struct found_file *files; /* each build id and kind once */
    size_t count, room;
    int *archives; /* unpacked, open until the end */
    size_t archive_count;
    struct maps maps; /* BCSymbolMaps; appended to their debug files */
    struct {
        char why[MIRE_SYMBOL_WHY];
        char *first; /* path */
        size_t count;
    } passed[8]; /* files that are no use, by their defect */
    size_t passed_count;
    size_t missed; /* unusable files that a path names, and all unreadable files */
};

/* Is it a mapping of Java names? */
bool symbols_is_java(const struct found_file *file);

/*
 * Walk the paths; links below them are not followed. Errors on stderr: unreadable files, and defects of files that
 * begin like debug files or archives, or that a path names; once for all files with the same defect. 0, or -1.
 */
int symbols_find_files(struct found *out, char *const *paths);

/* The bytes of a found file, mapped: `out` is a part of `whole`, which the caller unmaps. False: it cannot be read any
 * more. */
bool symbols_map(struct file_bytes *whole, struct file_bytes *out, const struct found_file *file);

void symbols_found_free(struct found *found);

#endif
