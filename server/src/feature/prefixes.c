/* prefixes.c - see prefixes.h. A node's texts are a range of the sorted ones, those that end in it first. */
#include "feature/prefixes.h"

#include <stdlib.h>
#include <string.h>

static int by_text(const void *a, const void *b)
{
    const struct prefix *left = a, *right = b;
    uint32_t len = left->len < right->len ? left->len : right->len;
    int rc = memcmp(left->text, right->text, len);
    if (rc)
        return rc;
    if (left->len != right->len)
        return left->len < right->len ? -1 : 1;
    return (left->number > right->number) - (left->number < right->number);
}

/* Letters that two texts begin with. */
static uint32_t count_common(const struct prefix *one, const struct prefix *other)
{
    uint32_t len = 0;
    while (len < one->len && len < other->len && one->text[len] == other->text[len])
        len++;
    return len;
}

/* Split the node's range: its own texts, and a child for each letter that the others go on with. */
static size_t split(struct prefixes *out, size_t at, size_t node_count, const struct prefix *texts)
{
    struct prefix_node *node = &out->nodes[at];
    uint32_t next = node->first, end = node->first + node->count;
    while (next < end && texts[next].len == node->len)
        next++;
    node->count = next - node->first;
    node->child = (uint32_t)node_count;
    while (next < end) {
        const char letter = texts[next].text[node->len];
        uint32_t first = next;
        while (next < end && texts[next].text[node->len] == letter)
            next++;
        out->letters[node_count] = (unsigned char)letter;
        out->nodes[node_count++] = (struct prefix_node){.text = texts[first].text,
                                                        .len = count_common(&texts[first], &texts[next - 1]),
                                                        .first = first,
                                                        .count = next - first};
    }
    node->child_count = (uint32_t)node_count - node->child;
    return node_count;
}

int prefixes_make(struct prefixes *out, struct prefix *texts, size_t count)
{
    size_t node_count = 1;
    *out = (struct prefixes){calloc(2 * count + 1, sizeof *out->nodes), calloc(2 * count + 1, sizeof *out->letters),
                             calloc(count + 1, sizeof *out->numbers)};
    if (!out->nodes || !out->letters || !out->numbers)
        return -1;
    if (count)
        qsort(texts, count, sizeof *texts, by_text);
    for (size_t i = 0; i < count; i++)
        out->numbers[i] = texts[i].number;
    out->nodes[0] = (struct prefix_node){.text = "", .count = (uint32_t)count};
    for (size_t at = 0; at < node_count; at++)
        node_count = split(out, at, node_count, texts);
    return 0;
}

void prefixes_fini(struct prefixes *prefixes)
{
    free(prefixes->nodes);
    free(prefixes->letters);
    free(prefixes->numbers);
}

const struct prefix_node *prefixes_next(const struct prefixes *prefixes, const struct prefix_node *node,
                                        const char *name)
{
    const unsigned char *letters = prefixes->letters + node->child;
    const unsigned char *letter =
        node->child_count ? memchr(letters, (unsigned char)name[node->len], node->child_count) : NULL;
    if (!letter)
        return NULL;
    const struct prefix_node *child = &prefixes->nodes[node->child + (size_t)(letter - letters)];
    return strncmp(name + node->len, child->text + node->len, child->len - node->len) ? NULL : child;
}
