/*
 * search.h - finds the files of a module. Internal to symbolizer/.
 *
 *     uploaded file, symbol directories, the image itself, its .gnu_debuglink  --> files, most informative first
 *     the dwz file of their DWARF                                              --> files.alt
 *
 * Thread: one per struct search.
 */
#ifndef MIRE_SYMBOLIZER_SEARCH_H
#define MIRE_SYMBOLIZER_SEARCH_H

#include "sandbox/child.h"
#include "symbolizer/options.h"

#include <limits.h>

struct search {
    const struct symbols_options *options;
    const uint8_t *id;
    size_t id_len;
    struct child_files files;
    char path[PATH_MAX];     /* path of the most informative one */
    char uploaded[PATH_MAX]; /* path of the uploaded file; "": no upload */
    uint64_t contents_id; /* contents of the uploaded file, otherwise of the file in a symbol directory; 0: neither */
    enum symbol_kind best;
    uint8_t alt_id[MIRE_OBJECT_ID_MAX];
    size_t alt_id_len;
    char link[MIRE_OBJECT_LINK]; /* file with the DWARF, by .gnu_debuglink; "": no link */
    uint32_t link_crc;
    const char *wrong; /* problem of the last file examined; static */
    bool again;        /* convert again although a cache exists: a missing file has arrived */
};

#define SEARCH_INIT(options_, id_, id_len_)                                                          \
    {                                                                                                \
        .options = (options_), .id = (id_), .id_len = (id_len_), .files = {.alt = -1, .splits = -1 } \
    }

/*
 * Set search->contents_id. The id of a file in a symbol directory changes when the file is written or replaced.
 * Returns 0, or a fault of options->contents_id.
 */
int search_identify(struct search *search);

/* The contents id of any build id; 0 if there is no file. Returns as search_identify. */
int search_contents_id(uint64_t *out, const struct symbols_options *options, const uint8_t *id, size_t id_len);

/* Find all files of the module. `image` is its path on the device. Returns 0, or a fault of options->uploaded or
 * options->contents_id. */
int search_all(struct search *search, const char *image);

/* Find the uploaded mapping of Java names with the id. Returns 0 or a fault of options->uploaded. */
int search_mapping(struct search *search);

/* Add a file if it belongs to the module; otherwise set search->wrong. The file is opened; search_close closes it. */
void search_take(struct search *search, const char *path);

/* Add the file that .gnu_debuglink of an added file names, for an image at that path. */
void search_linked(struct search *search, const char *image);

/* Find the dwz file that the DWARF of the added files refers to. Returns 0 or a fault. */
int search_alt(struct search *search);

void search_close(struct search *search);

#endif
