/*
 * document.h - drafts as JSON, section by section in the order of schema/wire/report.schema.json. Private to report/.
 */
#ifndef MIRE_REPORT_DOCUMENT_H
#define MIRE_REPORT_DOCUMENT_H

#include "report/draft.h"
#include "report/packages.h"
#include "wire/wire.h"

/* The whole document of an event. */
void mire__document_write(struct wire *wire, const struct draft *draft);

/* The sections "event" and "threads". */
void mire__document_event(struct wire *wire, const struct draft *draft);
void mire__document_threads(struct wire *wire, const struct draft *draft);

/*
 * The parts that all kinds of reports have.
 *
 *   head   opens the document, up to the images
 *   image  one row of images, inside the open array
 *   script_images  one row of images for each kind of script, inside the open array
 *   script  the rows of frames of scripts, and of code made at run time; none if there are none
 *   trie   frames and nodes; with `found` also how each frame was found
 *   drops  told: NULL for none
 */
struct document_image {
    const char *path;
    size_t path_size; /* of the field; the path ends before */
    const uint8_t *id;
    size_t id_size;
    uint64_t base; /* the module's begin in the file's program headers */
    uint64_t load, size;
    enum package_tie tie;
};
void mire__document_head(struct wire *wire, const char *id, const char *kind, const struct blackbox_facts *facts,
                         const struct process_use *use);
void mire__document_image(struct wire *wire, const struct document_image *image, const char *arch);
void mire__document_script_images(struct wire *wire, const struct script_rows *rows);
void mire__document_script(struct wire *wire, const struct script_rows *rows);
void mire__document_trie(struct wire *wire, const struct trie *trie, bool found);
void mire__document_drops(struct wire *wire, const struct report_attached *attached);
/* The section "context"; none if it has nothing, or `app` is NULL. */
void mire__document_context(struct wire *wire, const struct context *app, const struct blackbox_facts *facts);
/* The section "java"; none without rows. */
void mire__document_java(struct wire *wire, const struct script_rows *rows);
/* The section "exit"; none if `end` is NULL. */
void mire__document_exit(struct wire *wire, const struct exit_end *end);

/* Write the text in a field of fixed size, unless it is empty. */
#define MIRE_TEXT_IF_ANY(wire, key, field)                    \
    do {                                                      \
        if ((field)[0])                                       \
            mire__wire_text(wire, key, field, sizeof(field)); \
    } while (0)

static inline uint64_t at_most(uint64_t value, uint64_t limit)
{
    return value < limit ? value : limit;
}

/* To the nearest millisecond. */
static inline uint64_t ms_of(uint64_t ns)
{
    return ns / MIRE_NS_PER_MS + (ns % MIRE_NS_PER_MS >= MIRE_NS_PER_MS / 2);
}

#endif
