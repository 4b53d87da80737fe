/*
 * script_rows.h - frames of scripts, as rows of a report. Private to report/.
 *
 *     trie    frame: image MIRE_ROWS_PYTHON, offset MIRE_SCRIPT_PC(3, 17)
 *     box     function 3: "serve", "/srv/app.py"          -->   frame: image 12, offset 0
 *                                                               row 0: serve, /srv/app.py, 17
 *
 * The images of scripts come behind those of the box, however many they become: so the trie has stand-ins until it is
 * done.
 */
#ifndef MIRE_REPORT_SCRIPT_ROWS_H
#define MIRE_REPORT_SCRIPT_ROWS_H

#include "report/perf_map.h"
#include "report/trie.h"
#include "ring/blackbox.h"

/* What an image of scripts is of; the trie's stand-in for it is MIRE_ROWS_IMAGE less that. */
enum rows_of {
    MIRE_ROWS_PYTHON, /* the offset is the frame as the box has it */
    MIRE_ROWS_PERF,   /* the offset is a number of a name in the map */
    MIRE_ROWS_KINDS
};
#define MIRE_ROWS_IMAGE INT32_MAX

struct script_rows {
    uint32_t count;
    int32_t *function, *file, *line; /* columns; the first two are numbers of texts */
    uint32_t text_count;
    const char **texts;                     /* borrowed */
    int32_t image_count;                    /* images of scripts */
    enum rows_of image_of[MIRE_ROWS_KINDS]; /* what each is of */
};

/*
 * Make the rows, and give the trie's frames their images and rows.
 *   box, map     have the names; borrowed as long as the rows
 *   image_count  images that come before those of scripts
 * Returns MIRE_OK, MIRE_E_MEMORY; mire__script_rows_fini is due whatever it returns.
 */
enum mire_err mire__script_rows_init(struct script_rows *rows, struct trie *trie, const struct blackbox *box,
                                     const struct perf_map *map, uint32_t image_count);
void mire__script_rows_fini(struct script_rows *rows);

#endif
