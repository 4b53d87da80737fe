/*
 * options.h - where the symbolizer looks for debug files, and the limits that it observes. Part of symbolizer.h.
 */
#ifndef MIRE_SYMBOLIZER_OPTIONS_H
#define MIRE_SYMBOLIZER_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct symbols_options {
    const char *const *dirs; /* directories with .build-id/xx/yyyy.debug; borrowed */
    size_t dir_count;
    bool local_images; /* also open the image's own path on this machine, if its build id is the same */
    size_t open_max;   /* limit of open modules, 1.. */
    uint64_t retry_ms; /* retry interval for a module that was not found, milliseconds */

    /*
     * Called by symbols_find before it uses a module; false refuses the module. NULL: every module may be used. An
     * admitted module is in use until the next call of symbols_find.
     */
    bool (*admit)(void *context, const uint8_t *id, size_t id_len);
    void *admit_context;

    /*
     * Find the uploaded file of a build id, and write its path to `path` (path_room bytes). Returns 1 found, 0 no such
     * upload, below zero a fault, which symbols_find returns. NULL: there are no uploads.
     */
    int (*uploaded)(void *context, char *path, size_t path_room, const uint8_t *id, size_t id_len);

    /*
     * Get a number for the contents of the uploaded file, never 0. Another number means that other contents were
     * uploaded; they are converted although a cache exists. Returns as `uploaded`. NULL: contents are not compared.
     */
    int (*contents_id)(void *context, uint64_t *out, const uint8_t *id, size_t id_len);

    /*
     * Get a number for those whose uploaded files are found now. What was found for others is not used for them. NULL:
     * all have the same files.
     */
    uint64_t (*owner)(void *context);

    /*
     * Get the number of files that have arrived so far. While it is unchanged, symbols_find uses what it found before,
     * and searches for a missing module only after retry_ms. Returns 0 or a fault, which symbols_find returns. NULL:
     * arrivals are not counted.
     */
    int (*arrivals)(void *context, int64_t *count_out);
    void (*converted)(void *context, const char *path); /* upload is not needed any more; NULL: not reported */
    void *uploaded_context;

    const char *cache_dir;    /* directory of converted files; may be emptied at any time; NULL: in memory only */
    uint64_t cache_max_bytes; /* limit of that directory; the least recently used files go; 0: no limit */
    const char *converter;    /* program that passes "symbol-child" to symbols_child; NULL: this process */

    /* Called for a file that cannot be converted or is partly damaged, with the reason. NULL: not reported. */
    void (*refused)(void *context, const char *path, const char *why);
    void *refused_context;
};

#endif
