/*
 * mire_stacks.c - frames, and the nodes that make stacks of them.
 */
#include "decode/mire.h"

enum bind_outcome mire_read_frames(struct bind *bind, void *out, uint32_t at)
{
    struct frame_columns {
        struct bind_column image, offset, found, name, whole, into;
    } c = {0};
    static const struct bind_field fields[] = {
        {REQUIRED(
            COLUMN(struct frame_columns, image, MIRE_NAME_IMAGE, MIRE_WIRE_FRAMES_MAX, -1, MIRE_WIRE_IMAGES_MAX - 1))},
        {REQUIRED(COLUMN(struct frame_columns, offset, MIRE_NAME_OFFSET, MIRE_WIRE_FRAMES_MAX, 0, UINT64_MAX))},
        {COLUMN(struct frame_columns, found, MIRE_NAME_FOUND, MIRE_WIRE_FRAMES_MAX, 0, MIRE_FOUND_SCRIPT)},
        {COLUMN(struct frame_columns, name, MIRE_NAME_NAME, MIRE_WIRE_FRAMES_MAX, -1, MIRE_WIRE_SCRIPT_MAX - 1)},
        {COLUMN(struct frame_columns, whole, MIRE_NAME_WHOLE, MIRE_WIRE_FRAMES_MAX, 0, 1)},
        {COLUMN(struct frame_columns, into, MIRE_NAME_INTO, MIRE_WIRE_FRAMES_MAX, 0, UINT32_MAX)},
    };
    struct report *report = out;

    enum bind_outcome outcome = bind_object(bind, &c, at, fields, COUNT(fields));
    if (outcome)
        return outcome;
    if (c.offset.count != c.image.count)
        return bind_wrong_at(bind, MIRE_NAME_OFFSET, UNEQUAL);
    if (c.found.known && c.found.count != c.image.count)
        return bind_wrong_at(bind, MIRE_NAME_FOUND, UNEQUAL);
    if (c.name.known && c.name.count != c.image.count)
        return bind_wrong_at(bind, MIRE_NAME_NAME, UNEQUAL);
    if (c.whole.known && c.whole.count != c.image.count)
        return bind_wrong_at(bind, MIRE_NAME_WHOLE, UNEQUAL);
    if (c.into.known && c.into.count != c.image.count)
        return bind_wrong_at(bind, MIRE_NAME_INTO, UNEQUAL);
    struct report_frame *frames = arena_array(bind->arena, c.image.count, sizeof *frames);
    struct report_names *names = c.name.known ? arena_array(bind->arena, c.image.count, sizeof *names) : NULL;
    if (!frames || (c.name.known && !names))
        return MIRE_BIND_NO_MEMORY;
    for (size_t i = 0; i < c.image.count; i++) {
        int64_t image = (int64_t)c.image.values[i];
        if (image >= (int64_t)report->image_count)
            return bind_wrong_element(bind, MIRE_NAME_IMAGE, i, "there is no such image");
        if (image >= 0 && report->images[image].java && c.offset.values[i] >= report->java_count)
            return bind_wrong_element(bind, MIRE_NAME_OFFSET, i, "there is no such row of java");
        if (image >= 0 && report->images[image].script[0] && c.offset.values[i] >= report->script_count)
            return bind_wrong_element(bind, MIRE_NAME_OFFSET, i, "there is no such row of script");
        int64_t name = c.name.known ? (int64_t)c.name.values[i] : -1;
        if (name >= (int64_t)report->script_count)
            return bind_wrong_element(bind, MIRE_NAME_NAME, i, "there is no such row of script");
        frames[i] = (struct report_frame){(int32_t)image, c.found.known ? (uint8_t)c.found.values[i] : MIRE_FOUND_PC,
                                          c.offset.values[i], name < 0 ? NULL : &names[i],
                                          c.into.known ? (uint32_t)c.into.values[i] : 0};
        if (name >= 0)
            names[i] = (struct report_names){report->scripts[name].function, report->scripts[name].file,
                                             report->scripts[name].line, c.whole.known && c.whole.values[i]};
    }

    report->frames = frames;
    report->frame_count = c.image.count;
    return MIRE_BIND_OK;
}

enum bind_outcome mire_read_nodes(struct bind *bind, void *out, uint32_t at)
{
    struct node_columns {
        struct bind_column up, frame;
    } c = {0};
    static const struct bind_field fields[] = {
        {REQUIRED(COLUMN(struct node_columns, up, MIRE_NAME_UP, MIRE_WIRE_NODES_MAX, 1, UINT64_MAX))},
        {REQUIRED(COLUMN(struct node_columns, frame, MIRE_NAME_FRAME, MIRE_WIRE_NODES_MAX, 0, UINT64_MAX))},
    };
    struct report *report = out;

    enum bind_outcome outcome = bind_object(bind, &c, at, fields, COUNT(fields));
    if (outcome)
        return outcome;
    if (c.frame.count != c.up.count)
        return bind_wrong_at(bind, MIRE_NAME_FRAME, UNEQUAL);
    struct report_node *nodes = arena_array(bind->arena, c.up.count + 1, sizeof *nodes);
    if (!nodes)
        return MIRE_BIND_NO_MEMORY;
    for (size_t i = 0; i < c.up.count; i++) { /* row i is node i + 1 */
        if (c.up.values[i] > i + 1)
            return bind_wrong_element(bind, MIRE_NAME_UP, i, "goes above the root");
        if (c.frame.values[i] >= report->frame_count)
            return bind_wrong_element(bind, MIRE_NAME_FRAME, i, "there is no such frame");
        nodes[i + 1] = (struct report_node){(uint32_t)(i + 1 - c.up.values[i]), (uint32_t)c.frame.values[i]};
    }

    report->nodes = nodes;
    report->node_count = c.up.count + 1;
    return MIRE_BIND_OK;
}
