/* arguments.c - see arguments.h. getopt_long does the reading. */
#include "cli/arguments.h"
#include "cli/cli.h"
#include "cli/say.h"

#include "base/scope.h"

#include <getopt.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define HELP CLI_OPTIONS_MAX

static void say_where_help_is(const char *command)
{
    say(stderr, "Try '%s --help'.\n", command);
}

int cli_wrong(const char *command, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    say(stderr, "%s: ", command);
    say_list(stderr, format, args);
    say(stderr, "\n");
    say_where_help_is(command);
    va_end(args);
    return CLI_USAGE;
}

/* The error in the value, or NULL. */
static const char *take(const struct cli_option *option, char *value)
{
    if (option->flag)
        *option->flag = true;
    else if (option->text)
        *option->text = value;
    else
        return option->take(option->context, value);
    return NULL;
}

static struct {
    cli_visit *visit;
    void *context;
} describing;

void cli_describe(cli_visit *visit, void *context)
{
    describing.visit = visit;
    describing.context = context;
}

bool cli_is_describing(void)
{
    return describing.visit != NULL;
}

static void print_page(const char *command, const struct cli_option *options, size_t count, const struct cli_page *page)
{
    MIRE_SCOPED(text_fini) struct text out = {0};

    cli_page_put(&out, command, options, count, page);
    fputs(out.bytes ? out.bytes : "", stdout);
}

/* Handle what getopt found. Returns false, with *status, if the command ends. */
static bool handle(int *status, int found, const char *command, const struct cli_option *options, size_t count,
                   const struct cli_page *page)
{
    const char *wrong = NULL;

    *status = found == HELP ? CLI_DONE : CLI_USAGE;
    if (found == HELP)
        print_page(command, options, count, page);
    else if (found == '?')
        say_where_help_is(command);
    else
        wrong = take(&options[found], optarg);
    if (wrong)
        cli_wrong(command, "%s", wrong);
    return found != HELP && found != '?' && !wrong;
}

bool cli_begin(int *status, int *argc, char ***argv, const struct cli_option *options, size_t count,
               const struct cli_page *page)
{
    struct option known[CLI_OPTIONS_MAX + 2] = {{0}};
    char *command = (*argv)[0];

    if (describing.visit) {
        describing.visit(describing.context, command, options, count, page);
        *status = CLI_DONE;
        return false;
    }
    for (size_t i = 0; i < count; i++)
        known[i] = (struct option){options[i].name, options[i].flag ? no_argument : required_argument, NULL, (int)i};
    known[count] = (struct option){"help", no_argument, NULL, HELP};
    optind = 0;
    for (int found; (found = getopt_long(*argc, *argv, "", known, NULL)) != -1;)
        if (!handle(status, found, command, options, count, page))
            return false;

    *argc -= optind - 1;
    *argv += optind - 1;
    (*argv)[0] = command;
    return true;
}

const struct cli_verb *cli_verb_at(const struct cli_page *page, size_t at)
{
    return (const struct cli_verb *)((const char *)page->verbs + at * page->verb_size);
}

/* "APP [VERSION]" takes one or two words, "APP NAME..." two and more. */
static bool fits(const char *words, int count)
{
    int least = 0, most = 0;

    for (const char *at = words; *at; at += strspn(at, " ")) {
        size_t len = strcspn(at, " ");
        least += *at != '[';
        most++;
        at += len;
        if (len > 3 && strncmp(at - 3, "...", 3) == 0)
            most = count > most ? count : most;
    }

    return count >= least && count <= most;
}

int cli_pick_verb(int argc, char **argv, const struct cli_page *page)
{
    MIRE_SCOPED(text_fini) struct text all = {0};
    for (size_t i = 0; i < page->verb_count; i++) {
        const struct cli_verb *verb = cli_verb_at(page, i);
        if (argc > 1 && strcmp(argv[1], verb->name) == 0) {
            if (fits(verb->words, argc - 2))
                return (int)i;
            cli_wrong(argv[0], "it is '%s %s%s%s'", argv[0], verb->name, *verb->words ? " " : "", verb->words);
            return -1;
        }
        const char *between = i + 1 < page->verb_count ? ", " : " or ";
        say_add(&all, "%s%s", i == 0 ? "" : between, verb->name);
    }

    if (argc > 1)
        cli_wrong(argv[0], "there is no '%s': %s?", argv[1], all.bytes);
    else
        cli_wrong(argv[0], "%s?", all.bytes);
    return -1;
}

int cli_begin_verb(int *status, int *argc, char ***argv, const struct cli_option *options, size_t count,
                   const struct cli_page *page)
{
    if (!cli_begin(status, argc, argv, options, count, page))
        return -1;
    *status = CLI_USAGE;
    return cli_pick_verb(*argc, *argv, page);
}
