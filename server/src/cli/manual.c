/* manual.c - `mire man`: manual pages in roff, of the tables that parse the options and print --help. */
#include "cli/arguments.h"
#include "cli/cli.h"
#include "cli/pages.h"
#include "cli/say.h"

#include "base/scope.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Text of roff: no line begins with a control character, no backslash or hyphen has a meaning. */
static void add_roff(struct text *out, const char *text, size_t len)
{
    bool begins = true;

    for (size_t i = 0; i < len; i++) {
        if (begins && (text[i] == '.' || text[i] == '\''))
            text_add(out, "\\&");
        if (text[i] == '\\')
            text_add(out, "\\e");
        else if (text[i] == '-')
            text_add(out, "\\-");
        else
            text_append(out, &text[i], 1);
        begins = text[i] == '\n';
    }
}

static void add_text(struct text *out, const char *text)
{
    add_roff(out, text, strlen(text));
}

static void put_head(struct text *out, const char *command, const char *summary)
{
    text_add(out, ".TH \"");
    for (const char *c = command; *c; c++)
        text_printf(out, "%c", *c == ' ' ? '-' : *c);
    text_add(out, "\" \"1\" \"\" \"Mire " MIRE_VERSION "\"\n.SH NAME\n");
    for (const char *c = command; *c; c++)
        text_add(out, *c == ' ' || *c == '-' ? "\\-" : (const char[]){*c, '\0'});
    text_add(out, " \\- ");
    add_text(out, summary);
    text_add(out, "\n");
}

static void put_synopsis(struct text *out, const char *command, const struct cli_page *page)
{
    text_add(out, ".SH SYNOPSIS\n.nf\n");
    for (size_t i = 0; i < page->verb_count; i++) {
        const struct cli_verb *verb = cli_verb_at(page, i);
        text_add(out, "\\fB");
        add_text(out, command);
        text_printf(out, " %s\\fR %s%s[OPTION]...\n", verb->name, verb->words, *verb->words ? " " : "");
    }
    for (const char *line = page->synopsis; line;) {
        size_t len = strcspn(line, "\n");
        text_add(out, "\\fB");
        add_text(out, command);
        text_add(out, "\\fR ");
        add_roff(out, line, len);
        text_add(out, "\n");
        line = line[len] ? line + len + 1 : NULL;
    }
    text_add(out, ".fi\n");
}

static void put_about(struct text *out, const char *about)
{
    text_add(out, ".SH DESCRIPTION\n");
    while (about && *about) {
        const char *end = strstr(about, "\n\n");
        size_t len = end ? (size_t)(end - about) : strlen(about);
        text_add(out, ".PP\n");
        add_roff(out, about, len);
        text_add(out, "\n");
        about += len + (end ? 2 : 0);
    }
}

static void put_options(struct text *out, const struct cli_option *options, size_t count)
{
    text_add(out, ".SH OPTIONS\n");
    for (size_t i = 0; i < count; i++) {
        text_add(out, ".TP\n\\fB\\-\\-");
        add_text(out, options[i].name);
        text_add(out, "\\fR");
        if (options[i].value) {
            text_add(out, " \\fI");
            add_text(out, options[i].value);
            text_add(out, "\\fR");
        }
        text_add(out, "\n");
        add_text(out, options[i].help ? options[i].help : "");
        text_add(out, "\n");
    }
    text_add(out, ".TP\n\\fB\\-\\-help\\fR\nprint the help\n");
}

static void put_page(void *context, const char *command, const struct cli_option *options, size_t count,
                     const struct cli_page *page)
{
    struct pages_asked *asked = context;
    struct text *out = asked->out;

    put_head(out, command, asked->summary);
    if (page->usage) {
        text_add(out, ".SH DESCRIPTION\n.nf\n");
        add_text(out, page->usage);
        text_add(out, ".fi\n");
    } else {
        put_synopsis(out, command, page);
        put_about(out, page->about);
        for (size_t i = 0; i < page->verb_count; i++) {
            const struct cli_verb *verb = cli_verb_at(page, i);
            text_printf(out, "%s.TP\n\\fB%s\\fR %s\n", i ? "" : ".SH COMMANDS\n", verb->name, verb->words);
            add_text(out, verb->help ? verb->help : "");
            text_add(out, "\n");
        }
        put_options(out, options, count);
        text_add(out, ".SH EXIT STATUS\n0 done, 1 failed, 2 called wrongly.\n");
    }
    text_add(out, ".SH SEE ALSO\n\\fBmire\\fR(1), \\fBmired\\fR(8)\n");
}

/* The page of mire itself. */
static void put_index(struct text *out)
{
    put_head(out, "mire", "find what makes shipped programs hang or run out of memory");
    text_add(out, ".SH SYNOPSIS\n\\fBmire\\fR \\fICOMMAND\\fR [ARGUMENT]...\n.SH COMMANDS\n");
    for (size_t i = 0; i < cli_command_count; i++) {
        text_printf(out, ".TP\n\\fBmire\\-%s\\fR(1)\n", cli_commands[i].name);
        add_text(out, cli_commands[i].summary);
        text_add(out, "\n");
    }
    text_add(
        out,
        ".SH ENVIRONMENT\n.TP\n\\fBMIRE_SERVER\\fR\nthe server, in the place of "
        "\\-\\-server\n.TP\n\\fBMIRE_APP\\fR\nthe app, in place of \\-\\-app\n.TP\n\\fBMIRE_KEY\\fR\nthe key, in place "
        "of \\-\\-key\n.SH EXIT STATUS\n0 success, 1 failure, 2 usage error.\n.SH SEE ALSO\n\\fBmired\\fR(8)\n");
}

static bool write_page(const char *folder, const char *name, const struct text *out)
{
    MIRE_SCOPED(text_fini) struct text path = {0};

    text_printf(&path, "%s/%s", folder, name);
    FILE *file MIRE_SCOPED(close_file) = text_failed(&path) ? NULL : fopen(path.bytes, "we");
    if (file && !text_failed(out) && fwrite(out->bytes, 1, out->len, file) == out->len && fflush(file) == 0)
        return true;
    say(stderr, "mire man: cannot write %s\n", path.bytes ? path.bytes : folder);
    return false;
}

/* Every page, and what the shells read, as files of a folder. */
static int write_all(const char *folder)
{
    static const char *const shells[][2] = {{"bash", "mire.bash"}, {"zsh", "_mire"}, {"fish", "mire.fish"}};
    MIRE_SCOPED(text_fini) struct text index = {0};
    char name[96];

    put_index(&index);
    if (!write_page(folder, "mire.1", &index))
        return CLI_FAILED;
    for (size_t i = 0; i < cli_command_count; i++)
        for (size_t part = 0; part <= pages_part_count(&cli_commands[i]); part++) {
            MIRE_SCOPED(text_fini) struct text out = {0};
            struct pages_asked asked = {.out = &out, .summary = cli_commands[i].summary};
            const char *word = part ? cli_commands[i].parts[part - 1] : NULL;
            pages_visit(&cli_commands[i], word, put_page, &asked);
            snprintf(name, sizeof name, "mire-%s%s%s.1", cli_commands[i].name, word ? "-" : "", word ? word : "");
            if (!write_page(folder, name, &out))
                return CLI_FAILED;
        }
    for (size_t i = 0; i < CLI_COUNT(shells); i++) {
        MIRE_SCOPED(text_fini) struct text out = {0};
        if (!completion_put(&out, shells[i][0]) || !write_page(folder, shells[i][1], &out))
            return CLI_FAILED;
    }
    return CLI_DONE;
}

int cli_man(int argc, char **argv)
{
    static const struct cli_page page = {.synopsis = "[COMMAND [PART]]\n--all DIR",
                                         .about = "Print the manual page of mire, or of one of its commands, in man's "
                                                  "format: mire man key | man -l -. Packages install all pages."};
    const char *folder = NULL;
    const struct cli_option options[] = {{"all", "DIR",
                                          "write all pages and the scripts of `mire completion` into a directory",
                                          "DIR", .text = &folder}};
    MIRE_SCOPED(text_fini) struct text out = {0};
    int status;

    if (!cli_begin(&status, &argc, &argv, options, CLI_COUNT(options), &page))
        return status;
    if (folder && argc == 1)
        return write_all(folder);
    const struct cli_command *command = argc > 1 ? pages_command(argv[1]) : NULL;
    const char *part = argc > 2 && command ? pages_part(command, argv[2]) : NULL;
    if (argc > 3 || folder || (argc > 1 && !command) || (argc > 2 && !part))
        return cli_wrong("mire man", "there is no such command; `mire --help` lists them");
    struct pages_asked asked = {.out = &out, .summary = command ? command->summary : ""};
    if (command)
        pages_visit(command, part, put_page, &asked);
    else
        put_index(&out);
    fwrite(out.bytes ? out.bytes : "", 1, out.len, stdout);
    return text_failed(&out) ? CLI_FAILED : CLI_DONE;
}
