/*
 * symbols_find.h - debug files at and below paths, those inside archives among them.
 */
#ifndef MIRE_CLI_SYMBOLS_FIND_H
#define MIRE_CLI_SYMBOLS_FIND_H

#include "archive/contents.h"
#include "object/maps.h"

struct found_file {
    char *path; /* of the file, or of the archive it is in */
    struct contents_item item;
    struct contents_version version; /* of a mapping alone in an .aab or .apk: the app's, by its manifest */
    int fd;                          /* of the unpacked archive, shared by its items; -1: open `path` */
    bool missing;                    /* at the server, or only there with other contents: for whoever asks it */
    char defect[MIRE_SYMBOL_WHY];    /* what is damaged of the very same contents there; "": nothing is */
};

struct found {
    struct found_file *files; /* each build id and kind once */
    size_t count, room;
    int *archives; /* unpacked, open until the end */
    size_t archive_count;
    struct maps maps; /* BCSymbolMaps; put behind their debug files */
    struct {
        char why[MIRE_SYMBOL_WHY];
        char *first; /* path */
        size_t count;
    } passed[8]; /* files that could have been of use, by what is wrong with them */
    size_t passed_count;
    size_t missed; /* files that a path names and that are of no use, and all that could not be read */
};

/* Is it a mapping of Java names? */
bool symbols_is_java(const struct found_file *file);

/*
 * Walk the paths; links below them are not followed. What cannot be read is told on stderr, and what is wrong with
 * files that begin like debug files or archives, or that a path names: once for all of the same fault. 0, or -1.
 */
int symbols_find_files(struct found *out, char *const *paths);

/* The bytes of a found file, mapped where they lie: `out` is a part of `whole`, which is to be unmapped. False: it
 * cannot be read any more. */
bool symbols_map(struct file_bytes *whole, struct file_bytes *out, const struct found_file *file);

void symbols_found_free(struct found *found);

#endif
