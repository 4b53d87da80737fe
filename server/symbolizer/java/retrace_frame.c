/*
 * retrace_frame.c - retraces one frame by the rules of R8's own retrace tool.
 *
 *     groups of the rows of the method's short name       retrace_rows.h
 *       |  rows that cover the line, otherwise those without lines
 *     choices                                             one a group, or a line of the source
 *       |  inner calls removed below an exception, the compiler's own outermost frame removed
 *     frames
 */
#include "java/retrace_rows.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The query and the results so far. */
struct lookup {
    const struct retrace *retrace;
    const struct retrace_class *class;
    const struct retrace_query *query;
    const struct retrace_carry *before; /* state from the inner frame */
    struct retrace_answer *answer;
    uint32_t line; /* of the frame, or from an outline; 0: unknown */
    bool ambiguous;
    bool name_only; /* no row has a line: only the method is known */
    uint16_t choices;
    uint32_t position; /* for the outer frame: line of an outline */
};

static uint32_t source_lines(const struct retrace_member *row)
{
    return row->source_to - row->source_from + 1;
}

/* ---- frames ---- */

/* com.example.Outer$Inner -> Outer.java or Outer.kt, by the compiler's rules. File classes of Kotlin end in Kt. */
static void name_file(char *out, const struct piece_of_text *class, const char *file)
{
    const char *dot = class->len ? memrchr(class->at, '.', class->len) : NULL;
    const char *from = dot ? dot + 1 : class->at;
    size_t len = (size_t)(class->at + class->len - from);
    const char *inner = len > 1 ? memchr(from + 1, '$', len - 1) : NULL;
    const char *ending = strrchr(file, '.');
    bool kotlin = ending && !strcmp(ending, ".kt");
    len = inner ? (size_t)(inner - from) : len;
    if (len > 2 && !memcmp(from + len - 2, "Kt", 2) && (kotlin || !ending || !ending[1])) {
        kotlin = true;
        len -= 2;
    }
    snprintf(out, MIRE_RETRACE_TEXT, "%.*s.%s", (int)(len < MIRE_RETRACE_TEXT ? len : MIRE_RETRACE_TEXT), from,
             kotlin ? "kt" : "java");
}

static void set_file(struct retrace_frame *frame, const struct lookup *l)
{
    struct piece_of_text name = {frame->class_name, (uint32_t)frame->class_len};
    const struct retrace_class *class = retrace_find_named(l->retrace, &name);
    struct piece_of_text file = class ? retrace_text(l->retrace, &class->file) : (struct piece_of_text){"", 0};
    if (file.len)
        snprintf(frame->file, sizeof frame->file, "%.*s",
                 (int)(file.len < sizeof frame->file ? file.len : sizeof frame->file - 1), file.at);
    else if (!strcmp(l->query->file, "Native Method"))
        snprintf(frame->file, sizeof frame->file, "%s", l->query->file);
    else
        name_file(frame->file, &name, l->query->file);
}

/*
 * The source line of a row.
 *   one  the only line the row may stand for, or 0: computed from the row
 */
static uint32_t source_line(const struct lookup *l, const struct retrace_member *row, uint32_t one)
{
    bool single = row->has_source && row->source_from == row->source_to;
    if (one)
        return one;
    if (single)
        return row->source_from;
    if (!l->ambiguous && (!row->has_lines || !l->line)) {
        if (row->has_source)
            return row->source_from;
        return row->has_lines && row->from ? row->from : l->line;
    }
    if (!retrace_covers(row, l->line) || !row->has_source)
        return l->line;
    return row->source_from + (l->line - row->from);
}

static struct retrace_frame *add_frame(struct lookup *l)
{
    struct retrace_answer *answer = l->answer;
    if (answer->count == MIRE_RETRACE_CHAIN)
        return NULL;
    struct retrace_frame *frame = &answer->frames[answer->count++];
    *frame = (struct retrace_frame){.choice = l->choices};
    return frame;
}

static void add_row(struct lookup *l, const struct retrace_member *row, uint32_t line)
{
    struct retrace_frame *frame = add_frame(l);
    if (!frame)
        return;
    struct piece_of_text home = retrace_text(l->retrace, row->class_name.len ? &row->class_name : &l->class->name);
    struct piece_of_text name = retrace_text(l->retrace, &row->name);
    frame->class_name = home.at;
    frame->class_len = home.len;
    frame->method = name.at;
    frame->method_len = name.len;
    frame->line = l->ambiguous && !l->line ? 0 : line;
    set_file(frame, l);
}

/* ---- removed frames ---- */

/* "throws(Ljava/lang/NullPointerException;)": compare with the exception thrown. */
static bool is_thrown(const struct lookup *l, const char *at, const char *end)
{
    const char *thrown = l->before->thrown;
    size_t len = l->before->thrown_len;
    if (!thrown || (size_t)(end - at) < len + 2 || *at++ != 'L' || at[len] != ';')
        return false;
    for (size_t i = 0; i < len; i++)
        if ((at[i] == '/' ? '.' : at[i]) != thrown[i])
            return false;
    return true;
}

/* The number of inner calls that one remark removes. */
static size_t removed_by(const struct lookup *l, const char *remark, const char *end)
{
    static const char condition[] = "throws(", action[] = "removeInnerFrames(";
    const char *at = remark;
    bool holds = true;
    while (holds && (at = memmem(at, (size_t)(end - at), condition, sizeof condition - 1))) {
        at += sizeof condition - 1;
        holds = is_thrown(l, at, end);
    }
    at = holds ? memmem(remark, (size_t)(end - remark), action, sizeof action - 1) : NULL;
    return at ? (size_t)strtoul(at + sizeof action - 1, NULL, 10) : 0;
}

static size_t removed_inside(const struct lookup *l, const struct member_rows *chain)
{
    size_t removed = 0;
    for (const struct retrace_member *row = chain->first; row < chain->end; row++) {
        struct piece_of_text all = retrace_text(l->retrace, &row->rewrite);
        const char *end = all.at + all.len;
        for (const char *at = all.at, *next; at < end; at = next + 1) {
            next = memchr(at, '\0', (size_t)(end - at));
            next = next ? next : end;
            removed += removed_by(l, at, next);
        }
    }
    return removed <= (size_t)(chain->end - chain->first) ? removed : 0;
}

/* ---- choices ---- */

static void add_choice(struct lookup *l, const struct member_rows *chain, uint32_t one)
{
    const struct retrace_member *last = chain->end - 1;
    const struct retrace_member *end = last->synthesized || last->outline ? last : chain->end;
    size_t count = l->answer->count;
    if (l->choices == UINT16_MAX)
        return;
    for (const struct retrace_member *row = chain->first + removed_inside(l, chain); row < end; row++)
        add_row(l, row, row == chain->first ? source_line(l, row, one) : source_line(l, row, 0));
    for (size_t i = count; i + 1 < l->answer->count; i++)
        l->answer->frames[i].inlined = true;
    if (last->outline)
        l->position = l->line;
    l->choices++;
}

/* Returns true if a row covers several source lines and cannot be resolved to one. */
static bool is_ambiguous(const struct retrace_member *row)
{
    return row->has_source && source_lines(row) > 1 &&
           (!row->has_lines || row->to - row->from + 1 != source_lines(row));
}

/* A chain is one choice, or one choice for each line of its innermost method. */
static void add_chain(struct lookup *l, const struct member_rows *chain)
{
    const struct retrace_member *first = chain->first;
    if (!l->line || !is_ambiguous(first)) {
        add_choice(l, chain, 0);
        return;
    }
    for (uint32_t line = first->source_from; line <= first->source_to && l->answer->count < MIRE_RETRACE_CHAIN; line++)
        add_choice(l, chain, line);
}

/* Add the method alone; its row is unknown. */
static void add_name(struct lookup *l, const struct retrace_member *row)
{
    if (!row->synthesized && !row->outline)
        add_row(l, row, l->line);
    l->choices++;
}

/* Add the selected rows of a group; each row without lines is a choice. */
static void add_rows(struct lookup *l, const struct member_rows *rows)
{
    for (struct member_rows chain = {rows->first, rows->first}; chain.first < rows->end; chain.first = chain.end) {
        chain.end = retrace_outermost(chain.first, rows->end) + 1;
        add_chain(l, &chain);
    }
}

/* ---- selection ---- */

enum selection { AT_LINE, WITHOUT_LINES, BY_NAME };

static struct member_rows select_rows(const struct member_rows *group, enum selection how, uint32_t line)
{
    struct member_rows rows;
    if (how == WITHOUT_LINES)
        return *group;
    if (how == BY_NAME)
        return (struct member_rows){group->end - 1, group->end};
    rows = retrace_rows_at(group, line);
    if (rows.first == rows.end && !line)
        rows = retrace_row_without_lines(group);
    return rows;
}

static bool is_selected(enum selection how, const struct retrace_member *row)
{
    return how != WITHOUT_LINES || !row->has_lines;
}

/* Visits the selected rows of each group. With `adds` false it only determines whether they are ambiguous. */
static size_t visit(struct lookup *l, const struct member_rows *all, enum selection how, bool adds)
{
    size_t groups = 0, count = 0;
    for (struct member_rows group = {all->first, all->first}; group.first < all->end; group.first = group.end) {
        group = retrace_next_group(l->retrace, all, group.first);
        struct member_rows rows = select_rows(&group, how, l->line);
        size_t here = 0;
        for (const struct retrace_member *row = rows.first; row < rows.end; row++) {
            if (!is_selected(how, row))
                continue;
            here++;
            l->ambiguous |= !adds && how != BY_NAME && is_ambiguous(row);
            if (adds && how == BY_NAME)
                add_name(l, row);
            else if (adds && how != AT_LINE)
                add_chain(l, &(struct member_rows){row, row + 1});
        }
        if (adds && how == AT_LINE)
            add_rows(l, &rows);
        l->ambiguous |= !adds && how == WITHOUT_LINES && here > 1;
        count += here;
        groups += here > 0;
    }
    l->ambiguous |= !adds && groups > 1;
    return count;
}

static bool take(struct lookup *l, const struct member_rows *all, enum selection how)
{
    l->ambiguous = false;
    if (!visit(l, all, how, false))
        return false;
    visit(l, all, how, true);
    return true;
}

/* ---- outlines ---- */

/* The line for a position of an outline: "2":17 -> 17; the position itself if it is not listed. */
static uint32_t line_of_position(const struct piece_of_text *positions, uint32_t position)
{
    const char *at = positions->at, *end = at + positions->len;
    uint32_t numbers[2] = {0};
    size_t count = 0;
    while (at < end) {
        if (*at < '0' || *at > '9') {
            at++;
            continue;
        }
        uint64_t value = 0;
        for (; at < end && *at >= '0' && *at <= '9' && value < UINT32_MAX; at++)
            value = value * 10 + (uint64_t)(*at - '0');
        numbers[count++ % 2] = (uint32_t)value;
        if (count % 2 == 0 && numbers[0] == position)
            return numbers[1];
    }
    return position;
}

/* Below an outline, set the line from the row that lists the outline's position. */
static void follow_position(struct lookup *l, const struct member_rows *all)
{
    if (!l->before->position)
        return;
    for (struct member_rows group = {all->first, all->first}; group.first < all->end; group.first = group.end) {
        group = retrace_next_group(l->retrace, all, group.first);
        struct member_rows rows = select_rows(&group, AT_LINE, l->line);
        struct piece_of_text positions = {"", 0};
        if (rows.first < rows.end)
            positions = retrace_text(l->retrace, &rows.end[-1].positions);
        if (positions.len) {
            l->line = line_of_position(&positions, l->before->position);
            return;
        }
    }
}

/* ---- whole frame ---- */

/* The mapping has the class, but not this method or line: keep both as they are. */
static void keep_method(struct lookup *l)
{
    struct piece_of_text name = retrace_text(l->retrace, &l->class->name);
    struct retrace_frame *frame = add_frame(l);
    if (!frame)
        return;
    frame->class_name = name.at;
    frame->class_len = name.len;
    frame->method = l->query->method;
    frame->method_len = strnlen(l->query->method, INT32_MAX);
    frame->line = l->query->line;
    set_file(frame, l);
}

static int by_innermost(const void *a, const void *b)
{
    const struct retrace_frame *x = *(const struct retrace_frame *const *)a;
    const struct retrace_frame *y = *(const struct retrace_frame *const *)b;
    const struct piece_of_text texts[2][3] = {
        {{x->class_name, (uint32_t)x->class_len},
         {x->method, (uint32_t)x->method_len},
         {x->file, (uint32_t)strlen(x->file)}},
        {{y->class_name, (uint32_t)y->class_len},
         {y->method, (uint32_t)y->method_len},
         {y->file, (uint32_t)strlen(y->file)}},
    };
    for (size_t i = 0; i < 3; i++) {
        int order = retrace_compare(&texts[0][i], &texts[1][i]);
        if (order)
            return order;
    }
    return (x->choice > y->choice) - (x->choice < y->choice);
}

/* Sort choices by the names of their innermost frames; a mapping's own order is arbitrary. */
static void sort_choices(struct retrace_answer *answer)
{
    const struct retrace_frame *first[MIRE_RETRACE_CHAIN];
    struct retrace_answer sorted = {.count = 0};
    size_t count = 0;
    for (size_t i = 0; i < answer->count; i++)
        if (!i || answer->frames[i].choice != answer->frames[i - 1].choice)
            first[count++] = &answer->frames[i];
    qsort(first, count, sizeof *first, by_innermost);
    for (size_t i = 0; i < count; i++) {
        const struct retrace_frame *frame = first[i], *end = answer->frames + answer->count;
        for (uint16_t choice = frame->choice; frame < end && frame->choice == choice; frame++) {
            sorted.frames[sorted.count] = *frame;
            sorted.frames[sorted.count++].choice = (uint16_t)i;
        }
    }
    *answer = sorted;
}

static void look_up(struct lookup *l)
{
    struct member_rows all = retrace_rows_of(l->retrace, l->class, l->query->method);
    bool found = all.first < all.end;
    follow_position(l, &all);
    if (found)
        found = take(l, &all, AT_LINE) || (l->line ? take(l, &all, WITHOUT_LINES) : take(l, &all, BY_NAME));
    if (!found)
        keep_method(l);
    for (size_t i = 0; i < l->answer->count; i++)
        l->answer->frames[i].ambiguous = l->choices > 1;
    l->answer->left_out = !l->answer->count;
    if (l->choices > 1)
        sort_choices(l->answer);
}

void retrace_frame(struct retrace_answer *out, struct retrace_carry *carry, const struct retrace *retrace,
                   const struct retrace_query *query)
{
    struct piece_of_text wanted = {query->class_name, (uint32_t)strnlen(query->class_name, INT32_MAX)};
    struct retrace_carry before = carry ? *carry : (struct retrace_carry){0};
    struct lookup lookup = {.retrace = retrace,
                            .class = retrace_find(retrace, &wanted),
                            .query = query,
                            .before = &before,
                            .answer = out,
                            .line = query->line};
    out->count = 0;
    out->left_out = false;
    if (lookup.class)
        look_up(&lookup);
    if (carry)
        *carry = (struct retrace_carry){.position = lookup.position};
}
