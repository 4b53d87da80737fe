/*
 * trie.h - the stacks of an event as one tree, in which common outer frames are stored once. Private to report/.
 *
 *     main > loop > read         nodes   1 main   2 loop (up 1)   3 read (up 1)   4 draw (up 2)
 *     main > loop > draw         leaves  3, 4
 */
#ifndef MIRE_REPORT_TRIE_H
#define MIRE_REPORT_TRIE_H

#include "base/base.h"

/* A frame: a position in an image. Equal positions are one frame, with the `found` of the first. */
struct trie_frame {
    int32_t image; /* index, -1 for none */
    uint64_t offset;
    uint8_t found;
    uint32_t into; /* bytes from the begin of the function; 0: unknown */
};

/* Columns, as on the wire. Row i of the node columns describes node i + 1; node 0 is the root. */
struct trie {
    uint32_t frame_count, node_count;
    int32_t *frame_image;
    uint64_t *frame_offset;
    uint8_t *frame_found;
    uint32_t *frame_into;
    uint32_t *node_up;
    uint32_t *node_frame;
    /* Open addressing; a slot holds number + 1, 0 if free. */
    uint32_t *frame_slots, *node_slots;
    uint32_t slot_mask;
};

/* Room for `cap` frames and as many nodes, cap <= 2^20. Returns MIRE_OK, MIRE_E_MEMORY. */
enum mire_err mire__trie_init(struct trie *trie, size_t cap);
void mire__trie_fini(struct trie *trie);

/*
 * The child of node `parent` for a frame; it is added if it is new. The caller keeps the number of calls within the
 * room given to init.
 */
uint32_t mire__trie_child(struct trie *trie, uint32_t parent, const struct trie_frame *place);

#endif
