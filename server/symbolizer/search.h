/*
 * search.h - the files of a module, wherever they are. Inside symbolizer/ only.
 *
 *     uploaded, symbol directories, the image itself, what its .gnu_debuglink names  --> files, what knows most first
 *     what their DWARF refers to (dwz)                                              --> files.alt
 */
#ifndef MIRE_SYMBOLIZER_SEARCH_H
#define MIRE_SYMBOLIZER_SEARCH_H

#include "sandbox/child.h"
#include "symbolizer/symbolizer.h"

#include <limits.h>

struct search {
    const struct symbols_options *options;
    const uint8_t *id;
    size_t id_len;
    struct child_files files;
    char path[PATH_MAX];     /* of what knows most */
    char uploaded[PATH_MAX]; /* "": nothing is */
    uint64_t contents_id;    /* of what is uploaded, else of what lies in a directory; 0: nothing does */
    enum symbol_kind best;
    uint8_t alt_id[MIRE_OBJECT_ID_MAX];
    size_t alt_id_len;
    char link[MIRE_OBJECT_LINK]; /* the file that the image says has its DWARF; "": it says nothing */
    uint32_t link_crc;
    const char *wrong; /* with the file last looked at */
    bool anew;         /* even if there is a cache: it lacks what has come since */
};

#define SEARCH_INIT(options_, id_, id_len_)                                                          \
    {                                                                                                \
        .options = (options_), .id = (id_), .id_len = (id_len_), .files = {.alt = -1, .splits = -1 } \
    }

/*
 * Ask for the contents_id; that of a file in a symbol directory is another one once it was written or put there anew.
 * 0 or a fault of options->contents_id.
 */
int search_edition(struct search *search);

/* The same of any build id; 0: no file of it is there. */
int search_contents_id(uint64_t *out, const struct symbols_options *options, const uint8_t *id, size_t id_len);

/* Every file of the module that can be found; `image`: its path on the device. 0, or a fault of options->uploaded. */
int search_all(struct search *search, const char *image);

/* The mapping of Java names that was uploaded under that id. 0 or a fault of options->uploaded. */
int search_mapping(struct search *search);

/* Take a file if it is of the module; search->wrong says why not. */
void search_take(struct search *search, const char *path);

/* Take the file that the .gnu_debuglink of one already taken names, for an image at that path. */
void search_linked(struct search *search, const char *image);

/* Find what the DWARF of those taken refers to. 0 or a fault. */
int search_alt(struct search *search);

void search_close(struct search *search);

#endif
