/* frames.c - call trees as text. The API has them as columns, breadth first, the largest sibling first. */
#include "mcp/inside.h"

#include "base/scope.h"

#include <stdlib.h>
#include <string.h>

#define LINES_MAX   250
#define CALLERS_MAX 4
#define DEPTH_MAX   24 /* of the indentation */

struct frame_tree {
    const struct json *json;
    uint32_t count;
    int64_t *parent, *name, *image; /* by frame; in one block of memory, which begins at parent */
    double *value;
    uint32_t *first, *next; /* child and sibling shown; 0: none, as the root is no child */
    char **names, **images;
    uint32_t name_count, image_count;
};

static char **read_texts(uint32_t *count, const struct json *json, const char *name)
{
    uint32_t list = json_member(json, 0, name), at = list + 1;
    uint32_t size = list && json_kind(json, list) == MIRE_JSON_ARRAY ? json_size(json, list) : 0;
    char **out = calloc(size + 1, sizeof *out);

    *count = out ? size : 0;
    for (uint32_t i = 0; i < *count; i++, at = json_next(json, at)) {
        bool is_text = json_kind(json, at) == MIRE_JSON_STRING;
        out[i] = calloc(1, (is_text ? json_size(json, at) : 0) + 1);
        if (out[i] && is_text)
            json_text(out[i], json, at);
    }
    return out;
}

static void free_texts(char **texts, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        free(texts[i]);
    free(texts);
}

static bool read_column(int64_t *out, const struct frame_tree *tree, const char *name)
{
    uint32_t list = json_member(tree->json, 0, name), at = list + 1;

    if (!list || json_kind(tree->json, list) != MIRE_JSON_ARRAY || json_size(tree->json, list) != tree->count)
        return false;
    for (uint32_t i = 0; i < tree->count; i++, at = json_next(tree->json, at))
        if (!json_i64(&out[i], tree->json, at))
            return false;
    return true;
}

static bool read_values(struct frame_tree *tree)
{
    uint32_t list = json_member(tree->json, 0, "value"), at = list + 1;

    if (!list || json_kind(tree->json, list) != MIRE_JSON_ARRAY || json_size(tree->json, list) != tree->count)
        return false;
    for (uint32_t i = 0; i < tree->count; i++, at = json_next(tree->json, at))
        tree->value[i] = json_double(tree->json, at);
    return true;
}

/* A parent comes before its children, and each text is there. */
static bool tree_is_good(const struct frame_tree *tree)
{
    for (uint32_t i = 0; i < tree->count; i++)
        if (tree->parent[i] >= (int64_t)i || tree->parent[i] < (i ? 0 : -1) || tree->name[i] < 0 ||
            tree->name[i] >= tree->name_count || tree->image[i] < 0 || tree->image[i] >= tree->image_count ||
            !tree->names[tree->name[i]] || !tree->images[tree->image[i]])
            return false;
    return tree->count > 0;
}

static void tree_fini(struct frame_tree *tree)
{
    free(tree->parent);
    free(tree->value);
    free(tree->first);
    free_texts(tree->names, tree->name_count);
    free_texts(tree->images, tree->image_count);
}

static bool tree_read(struct frame_tree *tree, const struct json *json)
{
    uint32_t list = json_member(json, 0, "name");

    *tree = (struct frame_tree){.json = json};
    tree->count = list && json_kind(json, list) == MIRE_JSON_ARRAY ? json_size(json, list) : 0;
    tree->parent = calloc(tree->count + 1, 3 * sizeof *tree->parent);
    tree->value = calloc(tree->count + 1, sizeof *tree->value);
    tree->first = calloc(tree->count + 1, 2 * sizeof *tree->first);
    tree->names = read_texts(&tree->name_count, json, "names");
    tree->images = read_texts(&tree->image_count, json, "images");
    if (!tree->parent || !tree->value || !tree->first || !tree->names || !tree->images)
        return false;
    tree->name = tree->parent + tree->count;
    tree->image = tree->name + tree->count;
    tree->next = tree->first + tree->count;
    return read_column(tree->parent, tree, "parent") && read_column(tree->name, tree, "name") &&
           read_column(tree->image, tree, "image") && read_values(tree) && tree_is_good(tree);
}

static void add_frame(struct text *out, const struct frame_tree *tree, uint32_t frame)
{
    const char *name = tree->names[tree->name[frame]], *image = tree->images[tree->image[frame]];

    text_printf(out, "%.1f%% ", tree->value[0] > 0 ? 100 * tree->value[frame] / tree->value[0] : 0);
    text_add(out, name);
    if (*image)
        text_printf(out, " [%s]", image);
}

static void add_head(struct text *out, const struct json *json)
{
    MIRE_SCOPED(free_memory) char *unit = mcp_text(json, 0, "unit");

    text_printf(out, "%.0f of %.0f reports merged; 100%% is ", mcp_number(json, 0, "reports"),
                mcp_number(json, 0, "reports_total"));
    text_add(out, unit ? unit : "");
    text_add(out, "\n");
}

/* Hang each frame that is large enough below its parent, in their order. */
static void link_children(struct frame_tree *tree, double least)
{
    for (uint32_t i = tree->count; i-- > 1;) {
        if (tree->value[i] < least)
            continue;
        tree->next[i] = tree->first[tree->parent[i]];
        tree->first[tree->parent[i]] = i;
    }
}

/* The frame after `at`, depth first, and its indentation: deeper where a tree branches. 0: there is none. */
static uint32_t step(const struct frame_tree *tree, uint32_t at, unsigned *depth)
{
    uint32_t child = tree->first[at];

    if (child) {
        *depth += tree->next[child] ? 1 : 0;
        return child;
    }
    while (at && !tree->next[at]) {
        uint32_t above = (uint32_t)tree->parent[at];
        *depth -= tree->next[tree->first[above]] ? 1 : 0;
        at = above;
    }
    return at ? tree->next[at] : 0;
}

void mcp_write_tree(struct mcp_call *call, const struct json *json, double least_percent)
{
    struct frame_tree tree;
    unsigned depth = 0, lines = 0;

    if (!tree_read(&tree, json)) {
        mcp_fail(call, "The server's answer holds no call tree");
        tree_fini(&tree);
        return;
    }
    link_children(&tree, tree.value[0] * least_percent / 100);
    add_head(&call->out, json);
    if (!tree.first[0])
        text_add(&call->out, "No branch has that much.\n");
    for (uint32_t at = step(&tree, 0, &depth); at && lines < LINES_MAX; at = step(&tree, at, &depth), lines++) {
        text_printf(&call->out, "%*s", (int)(2 * (depth < DEPTH_MAX ? depth : DEPTH_MAX)), "");
        add_frame(&call->out, &tree, at);
        text_add(&call->out, "\n");
    }
    if (lines == LINES_MAX)
        text_add(&call->out, "More frames are left out; ask with a larger least_percent.\n");
    tree_fini(&tree);
}

void mcp_write_frames(struct mcp_call *call, const struct json *json, const char *text)
{
    struct frame_tree tree;
    unsigned lines = 0;

    if (!tree_read(&tree, json)) {
        mcp_fail(call, "The server's answer holds no call tree");
        tree_fini(&tree);
        return;
    }
    add_head(&call->out, json);
    for (uint32_t i = 1; i < tree.count && lines < LINES_MAX; i++) {
        if (!strcasestr(tree.names[tree.name[i]], text) && !strcasestr(tree.images[tree.image[i]], text))
            continue;
        text_add(&call->out, "- ");
        add_frame(&call->out, &tree, i);
        int64_t above = tree.parent[i];
        for (int k = 0; k < CALLERS_MAX && above > 0; k++, above = tree.parent[above])
            text_printf(&call->out, " < %s", tree.names[tree.name[above]]);
        text_add(&call->out, "\n");
        lines++;
    }
    if (!lines)
        text_add(&call->out, "No frame has this text.\n");
    tree_fini(&tree);
}
