/* klog.c - see klog.h. Reads line by line; other text does not end a stack, the start of another one does. */
#include "klog.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

static const char *after(const char *line, const char *what)
{
    const char *at = strstr(line, what);
    return at ? at + strlen(what) : NULL;
}

/* "TITLE: BUG: soft lockup in sys_rmdir" -> sys_rmdir */
static void take_title(struct klog *log, const char *line)
{
    const char *in = after(line, " in ");
    if (in && log->title_count < KLOG_TITLES)
        snprintf(log->titles[log->title_count++], KLOG_NAME, "%.*s", KLOG_NAME - 1, in);
}

/* Skip "[  615.4] " and "[   T31] ", which may repeat, and addresses "[<ffffffff84bbd2a1>] ". */
static const char *behind_marks(const char *line)
{
    for (;;) {
        line += strspn(line, " \t");
        const char *close = *line == '[' ? strchr(line, ']') : NULL;
        if (!close || close - line > 24)
            return line;
        line = close + 1;
    }
}

/* "name+0x1a/0x20 [module] ..." -> name */
static bool take_frame(struct klog_stack *stack, const char *text)
{
    size_t len = 0;
    while (isalnum((unsigned char)text[len]) || (text[len] && strchr("_.$", text[len])))
        len++;
    unsigned long offset, size;
    bool frame = len && text[len] == '+' && sscanf(text + len, "+%lx/%lx", &offset, &size) == 2;
    if (frame && stack && stack->count < KLOG_FRAMES && len < KLOG_NAME) {
        memcpy(stack->frames[stack->count], text, len);
        stack->frames[stack->count++][len] = '\0';
    }
    return frame;
}

static void add_frame(struct klog_stack *stack, const char *name)
{
    if (stack && stack->count < KLOG_FRAMES)
        snprintf(stack->frames[stack->count++], KLOG_NAME, "%s", name);
}

static struct klog_stack *begin(struct klog *log)
{
    if (log->stack_count == KLOG_STACKS)
        return NULL;
    struct klog_stack *stack = &log->stacks[log->stack_count++];
    stack->count = 0;
    return stack;
}

/* Headlines of stacks taken by an interrupt, and the functions that print them. */
static const struct {
    const char *text, *printer;
} headlines[] = {
    {"NMI backtrace for cpu", "nmi_cpu_backtrace"},
    {"hard LOCKUP on cpu", "watchdog_overflow_callback"},
    {"soft lockup - CPU", "watchdog_timer_fn"},
};

struct reading {
    struct klog *log;
    struct klog_stack *stack; /* stack that frames are added to; NULL: none has begun */
    bool headed;              /* begun by a headline; its own trace follows */
};

static void read_line(struct reading *r, const char *line)
{
    const char *text = behind_marks(line), *rip;
    for (size_t i = 0; i < sizeof headlines / sizeof *headlines; i++)
        if (strstr(line, headlines[i].text) && !strstr(line, " skipped: ")) { /* an idle processor */
            r->stack = begin(r->log);
            r->headed = r->stack != NULL;
            add_frame(r->stack, headlines[i].printer);
            return;
        }
    if (strstr(line, "Call Trace:") || strstr(line, "Call trace:") || strstr(line, "acktrace:")) {
        r->stack = r->headed ? r->stack : begin(r->log);
        r->headed = false;
        return;
    }
    if (!r->stack)
        return;
    if ((rip = after(text, "RIP: 0010:")) || (rip = after(text, "PC is at ")) || (rip = after(text, "pc : "))) {
        take_frame(r->stack, behind_marks(rip));
        return;
    }
    if (strstr(text, "RIP: 0033:") || strstr(text, "RIP: 0023:")) {
        r->stack = NULL; /* the rest is user code */
        r->headed = false;
        return;
    }
    for (const char *mark;
         (mark = after(text, "<IRQ>")) || (mark = after(text, "<EOI>")) || (mark = after(text, "</IRQ>"));)
        text = behind_marks(mark);
    if (*text == '(' && text[1] == '<') /* "(<8065b2a4>] (name) from (other)" of 32-bit ARM */
        return;
    take_frame(r->stack, text);
}

/* "[<8065b2a4>] (dump_stack) from [<80ad2a18>] (schedule+0x1/0x2)", and "dump_stack from schedule+0x1/0x2" */
static bool read_arm(struct reading *r, const char *line)
{
    const char *from = strstr(line, " from ");
    const char *open = from ? from : line;
    size_t len = 0;
    if (!from || !r->stack)
        return false;
    while (open > line && (isalnum((unsigned char)open[-1]) || strchr("_.()", open[-1])))
        open--;
    char name[KLOG_NAME];
    const char *begin = open + (*open == '(');
    while (isalnum((unsigned char)begin[len]) || (begin[len] && strchr("_.", begin[len])))
        len++;
    if (!len || len >= sizeof name)
        return false;
    memcpy(name, begin, len);
    name[len] = '\0';
    add_frame(r->stack, name);
    return true;
}

bool klog_read(struct klog *out, const char *path)
{
    static char line[8192];
    struct reading reading = {.log = out};
    FILE *file = fopen(path, "r");
    memset(out, 0, sizeof *out);
    if (!file)
        return false;
    while (fgets(line, sizeof line, file)) {
        line[strcspn(line, "\r\n")] = '\0';
        if (!strncmp(line, "TITLE: ", 7) || !strncmp(line, "ALT: ", 5))
            take_title(out, line);
        else if (!strncmp(line, "TYPE: ", 6))
            snprintf(out->type, sizeof out->type, "%.*s", KLOG_NAME - 1, line + 6);
        else if (!strncmp(line, "CORRUPTED: Y", 12))
            out->corrupted = true;
        else if (!read_arm(&reading, line))
            read_line(&reading, line);
    }
    fclose(file);
    return true;
}
