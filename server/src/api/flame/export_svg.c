/* export_svg.c - a flame graph as a picture. */
#include "api/flame/export.h"

#include "base/arena.h"
#include "base/scope.h"
#include "base/text.h"
#include "model/role.h"

#include <stdlib.h>
#include <string.h>

#define WIDTH    1200.0
#define ROW      18
#define TOP      34
#define LEAST    0.3 /* pixels of the narrowest frame that is drawn */
#define LETTER   6.6 /* pixels of a letter */
#define ROWS_MAX 1000

struct box {
    double x;
    uint32_t depth;
};

/* Text in an element or an attribute. */
static void add_xml(struct text *out, const char *text, size_t len)
{
    for (size_t i = 0; i < len; i++)
        switch (text[i]) {
        case '<':
            text_add(out, "&lt;");
            break;
        case '>':
            text_add(out, "&gt;");
            break;
        case '&':
            text_add(out, "&amp;");
            break;
        case '"':
            text_add(out, "&quot;");
            break;
        default:
            text_append(out, (unsigned char)text[i] < ' ' ? " " : &text[i], 1);
        }
}

/* Frames of the app stand out; what the rest is for is told by the title. */
static const char *colour_of(uint8_t role)
{
    return role == MIRE_ROLE_APP ? "#e8804c" : role == MIRE_ROLE_WAIT ? "#8fb3d9" : "#d9c9a8";
}

/* As many letters as have room, at the begin of a character. */
static size_t fitting(const char *name, double width)
{
    return text_cut(name, strlen(name), (size_t)(width / LETTER));
}

static void add_box(struct text *out, const struct flame_export *e, const struct box *box, uint32_t at, double width)
{
    const struct flame_view *view = e->view;
    const char *name = view->names[view->name[at]], *image = view->images[view->image[at]];
    unsigned y = TOP + box->depth * ROW;

    text_printf(out, "<g><title>");
    add_xml(out, name, strlen(name));
    if (*image) {
        text_add(out, " [");
        add_xml(out, image, strlen(image));
        text_add(out, "]");
    }
    text_printf(out, ": %.0f %s, %.2f %%</title>", view->value[at], e->unit, 100 * view->value[at] / view->value[0]);
    text_printf(
        out,
        "<rect x=\"%.2f\" y=\"%u\" width=\"%.2f\" height=\"%d\" fill=\"%s\" stroke=\"#fff\" stroke-width=\"0.5\"/>",
        box->x, y, width, ROW, colour_of(view->role[at]));
    size_t len = fitting(name, width - 6);
    if (len > 2) {
        text_printf(out, "<text x=\"%.2f\" y=\"%u\">", box->x + 3, y + 13);
        add_xml(out, name, len);
        text_add(out, "</text>");
    }
    text_add(out, "</g>\n");
}

/* Where each frame begins: behind its earlier siblings. `next` is where the next child of each frame begins. */
static uint32_t place(struct box *boxes, double *next, const struct flame_view *view, double scale)
{
    uint32_t deepest = 0;

    for (uint32_t i = 0; i < view->count; i++) {
        int32_t parent = view->parent[i];
        boxes[i] = (struct box){.x = parent < 0 ? 0 : next[parent], .depth = parent < 0 ? 0 : boxes[parent].depth + 1};
        next[i] = boxes[i].x;
        if (parent >= 0)
            next[parent] += view->value[i] * scale;
        if (view->value[i] * scale >= LEAST && boxes[i].depth < ROWS_MAX && boxes[i].depth > deepest)
            deepest = boxes[i].depth;
    }
    return deepest;
}

void flame_svg(struct text *out, const struct flame_export *e)
{
    const struct flame_view *view = e->view;
    struct box *boxes MIRE_SCOPED(free_memory) = calloc(view->count + 1, sizeof *boxes);
    double *next MIRE_SCOPED(free_memory) = calloc(view->count + 1, sizeof *next);
    double scale = view->count && view->value[0] > 0 ? WIDTH / view->value[0] : 0;

    if (!boxes || !next) {
        out->failed = true;
        return;
    }
    unsigned height = TOP + (place(boxes, next, view, scale) + 1) * ROW + 8;
    text_printf(out,
                "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %.0f %u\" width=\"%.0f\" height=\"%u\" "
                "font-family=\"monospace\" "
                "font-size=\"11\">\n<rect width=\"100%%\" height=\"100%%\" fill=\"#fff\"/>\n<text x=\"6\" y=\"20\" "
                "font-size=\"14\">",
                WIDTH, height, WIDTH, height);
    add_xml(out, e->title, strlen(e->title));
    text_add(out, "</text>\n");
    for (uint32_t i = 0; i < view->count; i++)
        if (view->value[i] * scale >= LEAST && boxes[i].depth < ROWS_MAX)
            add_box(out, e, &boxes[i], i, view->value[i] * scale);
    text_add(out, "</svg>\n");
}
