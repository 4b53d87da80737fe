/*
 * script_rows.h - the rows of script frames in a report. Private to report/.
 *
 *     trie    frame: image MIRE_ROWS_PYTHON, offset MIRE_SCRIPT_PC(3, 17)
 *     box     function 3: "serve", "/srv/app.py"          -->   frame: image 12, offset 0
 *                                                               row 0: serve, /srv/app.py, 17
 *
 * Frames of Java are rows of a table of their own, the report's section "java".
 *
 * The images of scripts follow those of the box, whose number is unknown at first, so the trie has placeholders until
 * it is complete.
 */
#ifndef MIRE_REPORT_SCRIPT_ROWS_H
#define MIRE_REPORT_SCRIPT_ROWS_H

#include "report/perf_map.h"
#include "report/trie.h"
#include "ring/blackbox.h"

/* The kinds of script images; the trie's placeholder is MIRE_ROWS_IMAGE minus the kind. */
enum rows_of {
    MIRE_ROWS_PYTHON, /* the offset is the frame as in the box */
    MIRE_ROWS_PERF,   /* the offset is the number of a name in the map */
    MIRE_ROWS_JAVA,   /* the offset is the frame as in the box */
    MIRE_ROWS_KINDS
};
#define MIRE_ROWS_IMAGE INT32_MAX

struct java_row {
    const char *name; /* "package.Class.method"; borrowed, as file */
    const char *file; /* "" if unknown */
    uint32_t line;
};

struct script_rows {
    uint32_t count;
    int32_t *function, *file, *line; /* columns; the first two are numbers of texts */
    uint32_t text_count;
    const char **texts; /* borrowed */
    uint32_t java_count;
    struct java_row *java;
    int32_t image_count;                    /* images of scripts */
    enum rows_of image_of[MIRE_ROWS_KINDS]; /* what each is of */
};

/* The trie's place for an address outside all images: the placeholder of its code's name; without a name the same place. */
struct trie_frame mire__script_rows_place(const struct perf_map *map, const struct trie_frame *place);

/*
 * Make the rows, and set the images and rows of the trie's frames.
 *   box, map     source of the names; borrowed as long as the rows. `box` may be NULL if no frame is Python's
 *   image_count  number of images before those of scripts
 * Returns MIRE_OK, MIRE_E_MEMORY. Call mire__script_rows_fini after any result.
 */
enum mire_err mire__script_rows_init(struct script_rows *rows, struct trie *trie, const struct blackbox *box,
                                     const struct perf_map *map, uint32_t image_count);
void mire__script_rows_fini(struct script_rows *rows);

#endif
