/*
 * completion.c - `mire completion SHELL`: the script by which a shell completes commands, verbs, options and the values
 * that are known, of the tables that parse them. The script asks nobody: all words stand in it.
 */
#include "cli/arguments.h"
#include "cli/cli.h"
#include "cli/pages.h"
#include "cli/say.h"

#include "base/scope.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

/* Call for each option of a help that is only known as text: "  --name VALUE  what it does". */
static void each_of_usage(const char *usage, void (*take)(void *context, const struct cli_option *option),
                          void *context)
{
    for (const char *at = usage; (at = strstr(at, "\n  --"));) {
        char name[64] = "", value[64] = "";
        at += 5;
        size_t len = strcspn(at, " ,\n");
        snprintf(name, sizeof name, "%.*s", (int)len, at);
        const char *word = at + len;
        if (*word == ' ' && isupper((unsigned char)word[1]))
            snprintf(value, sizeof value, "%.*s", (int)strcspn(word + 1, " \n"), word + 1);
        take(context, &(struct cli_option){.name = name, .value = *value ? value : NULL, .help = ""});
    }
}

static void each_option(const struct cli_option *options, size_t count, const struct cli_page *page,
                        void (*take)(void *context, const struct cli_option *option), void *context)
{
    const struct cli_option help = {.name = "help", .help = "print the help"};

    for (size_t i = 0; i < count; i++)
        take(context, &options[i]);
    if (page->usage)
        each_of_usage(page->usage, take, context);
    else
        take(context, &help);
}

/* A text within single quotes of the shells; ':' and brackets have a meaning for zsh. */
static void add_quoted(struct text *out, const char *text, bool is_zsh)
{
    for (; *text; text++)
        if (*text == '\'')
            text_add(out, is_zsh ? "'\\''" : "\\'");
        else if (is_zsh && strchr(":[]\\", *text))
            text_printf(out, "\\%c", *text);
        else if (!is_zsh && *text == '\\')
            text_add(out, "\\\\");
        else
            text_append(out, text, 1);
}

/* --- bash --- */

static void add_name(void *context, const struct cli_option *option)
{
    text_printf(context, " --%s", option->name);
}

static const char *bash_action(const struct cli_option *option)
{
    if (!option->choice)
        return "COMPREPLY=()";
    if (!strcmp(option->choice, "FILE"))
        return "COMPREPLY=($(compgen -f -- \"$cur\"))";
    return !strcmp(option->choice, "DIR") ? "COMPREPLY=($(compgen -d -- \"$cur\"))" : NULL;
}

static void add_bash_value(void *context, const struct cli_option *option)
{
    const char *action = bash_action(option);

    if (!option->value)
        return;
    text_printf(context, "            --%s) ", option->name);
    if (action)
        text_add(context, action);
    else
        text_printf(context, "COMPREPLY=($(compgen -W '%s' -- \"$cur\"))", option->choice);
    text_add(context, "; return ;;\n");
}

static void put_bash(void *context, const char *command, const struct cli_option *options, size_t count,
                     const struct cli_page *page)
{
    struct text *out = ((struct pages_asked *)context)->out;

    text_printf(out, "    '%s')\n        case $prev in\n", command + strlen("mire "));
    each_option(options, count, page, add_bash_value, out);
    text_add(out, "        esac\n        words='");
    each_option(options, count, page, add_name, out);
    text_add(out, "'\n        verbs='");
    for (size_t i = 0; i < page->verb_count; i++)
        text_printf(out, "%s%s", i ? " " : "", cli_verb_at(page, i)->name);
    text_add(out, ((struct pages_asked *)context)->summary);
    text_add(out, "' ;;\n");
}

/* Every page: each command's, and its parts'. `parts` gets the words that a command's parts add to its verbs. */
static void visit_all(struct text *out, cli_visit *visit)
{
    for (size_t i = 0; i < cli_command_count; i++) {
        const struct cli_command *command = &cli_commands[i];
        MIRE_SCOPED(text_fini) struct text parts = {0};
        struct pages_asked asked = {.out = out, .summary = ""};
        text_add(&parts, "");
        for (size_t part = 0; part < pages_part_count(command); part++)
            text_printf(&parts, " %s", command->parts[part]);
        asked.summary = parts.bytes && strcmp(command->name, "symbols") != 0 ? parts.bytes : "";
        pages_visit(command, NULL, visit, &asked);
        asked.summary = "";
        for (size_t part = 0; part < pages_part_count(command); part++)
            pages_visit(command, command->parts[part], visit, &asked);
    }
}

static void bash(struct text *out)
{
    text_add(out, "# bash completion for mire, printed by `mire completion bash`\n"
                  "_mire()\n{\n    local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD-1]} words='' "
                  "verbs='' key at\n"
                  "    if [ \"$COMP_CWORD\" -eq 1 ]; then\n        COMPREPLY=($(compgen -W '");
    for (size_t i = 0; i < cli_command_count; i++)
        text_printf(out, "%s ", cli_commands[i].name);
    text_add(out, "--help --version' -- \"$cur\"))\n        return\n    fi\n    key=${COMP_WORDS[1]} at=2\n"
                  "    case \"$key ${COMP_WORDS[2]}\" in\n");
    for (size_t i = 0; i < cli_command_count; i++)
        for (size_t part = 0; part < pages_part_count(&cli_commands[i]); part++)
            text_printf(out, "    '%s %s') [ \"$COMP_CWORD\" -gt 2 ] && key=\"$key ${COMP_WORDS[2]}\" at=3 ;;\n",
                        cli_commands[i].name, cli_commands[i].parts[part]);
    text_add(out, "    esac\n    case $key in\n");
    visit_all(out, put_bash);
    text_add(out, "    esac\n    case $cur in\n    -*) COMPREPLY=($(compgen -W \"$words\" -- \"$cur\")) ;;\n"
                  "    *) if [ \"$COMP_CWORD\" -eq \"$at\" ] && [ -n \"$verbs\" ]; then\n           "
                  "COMPREPLY=($(compgen -W \"$verbs\" -- \"$cur\"))\n"
                  "       else\n           COMPREPLY=($(compgen -f -- \"$cur\"))\n       fi ;;\n    esac\n}\n"
                  "complete -o filenames -F _mire mire\n");
}

/* --- zsh --- */

static void add_zsh_option(void *context, const struct cli_option *option)
{
    struct text *out = context;

    text_printf(out, "            '--%s[", option->name);
    add_quoted(out, option->help ? option->help : "", true);
    text_add(out, "]");
    if (option->value) {
        text_add(out, ":");
        add_quoted(out, option->value, true);
        text_add(out, ":");
        if (option->choice && !strcmp(option->choice, "FILE"))
            text_add(out, "_files");
        else if (option->choice && !strcmp(option->choice, "DIR"))
            text_add(out, "_files -/");
        else if (option->choice)
            text_printf(out, "(%s)", option->choice);
    }
    text_add(out, "' \\\n");
}

static void put_zsh(void *context, const char *command, const struct cli_option *options, size_t count,
                    const struct cli_page *page)
{
    struct pages_asked *asked = context;
    struct text *out = asked->out;

    text_printf(out, "    '%s')\n        _arguments \\\n", command + strlen("mire "));
    each_option(options, count, page, add_zsh_option, out);
    if (page->verb_count || *asked->summary) {
        text_add(out, "            '1:command:((");
        for (size_t i = 0; i < page->verb_count; i++) {
            const struct cli_verb *verb = cli_verb_at(page, i);
            text_printf(out, "%s%s\\:\"", i ? " " : "", verb->name);
            for (const char *c = verb->help ? verb->help : ""; *c; c++)
                text_add(out, *c == '\'' || *c == '"' || *c == '(' || *c == ')' ? " "
                              : *c == ':'                                       ? "\\:"
                                                                                : (const char[]){*c, '\0'});
            text_add(out, "\"");
        }
        text_printf(out, "%s))' \\\n", asked->summary);
    }
    text_add(out, "            '*:file:_files' ;;\n");
}

static void zsh(struct text *out)
{
    text_add(out, "#compdef mire\n# zsh completion for mire, printed by `mire completion zsh`\n_mire()\n{\n    local "
                  "-a commands\n    local key\n    commands=(\n");
    for (size_t i = 0; i < cli_command_count; i++) {
        text_printf(out, "        '%s:", cli_commands[i].name);
        add_quoted(out, cli_commands[i].summary, true);
        text_add(out, "'\n");
    }
    text_add(out, "    )\n    if (( CURRENT == 2 )); then\n        _describe command commands\n        return\n    fi\n"
                  "    shift words; (( CURRENT-- ))\n    key=$words[1]\n    case \"$key ${words[2]}\" in\n");
    for (size_t i = 0; i < cli_command_count; i++)
        for (size_t part = 0; part < pages_part_count(&cli_commands[i]); part++)
            text_printf(
                out, "    '%s %s') (( CURRENT > 2 )) && { key=\"$key $words[2]\"; shift words; (( CURRENT-- )) } ;;\n",
                cli_commands[i].name, cli_commands[i].parts[part]);
    text_add(out, "    esac\n    case $key in\n");
    visit_all(out, put_zsh);
    text_add(out, "    esac\n}\nif [ \"$funcstack[1]\" = _mire ]; then _mire \"$@\"; else compdef _mire mire; fi\n");
}

/* --- fish --- */

struct fish_option {
    struct text *out;
    const char *condition;
};

static void add_fish_option(void *context, const struct cli_option *option)
{
    struct fish_option *fish = context;

    text_printf(fish->out, "complete -c mire -n '%s' -l %s", fish->condition, option->name);
    if (option->value && option->choice && !strcmp(option->choice, "FILE"))
        text_add(fish->out, " -r -F");
    else if (option->value && option->choice && !strcmp(option->choice, "DIR"))
        text_add(fish->out, " -x -a '(__fish_complete_directories)'");
    else if (option->value)
        text_printf(fish->out, " -x%s%s%s", option->choice ? " -a '" : "", option->choice ? option->choice : "",
                    option->choice ? "'" : "");
    text_add(fish->out, " -d '");
    add_quoted(fish->out, option->help ? option->help : "", false);
    text_add(fish->out, "'\n");
}

static void put_fish(void *context, const char *command, const struct cli_option *options, size_t count,
                     const struct cli_page *page)
{
    struct pages_asked *asked = context;
    char words[64], condition[160];

    snprintf(words, sizeof words, "%s", command + strlen("mire "));
    char *part = strchr(words, ' ');
    if (part)
        *part++ = '\0';
    snprintf(condition, sizeof condition, "__fish_seen_subcommand_from %s%s%s", words,
             part ? "; and __fish_seen_subcommand_from " : "", part ? part : "");
    each_option(options, count, page, add_fish_option, &(struct fish_option){asked->out, condition});
    for (size_t i = 0; i < page->verb_count; i++) {
        const struct cli_verb *verb = cli_verb_at(page, i);
        text_printf(asked->out, "complete -c mire -n '%s; and test (count (commandline -opc)) -eq 2' -f -a %s -d '",
                    condition, verb->name);
        add_quoted(asked->out, verb->help ? verb->help : "", false);
        text_add(asked->out, "'\n");
    }
    if (*asked->summary)
        text_printf(asked->out, "complete -c mire -n '%s; and test (count (commandline -opc)) -eq 2' -f -a '%s'\n",
                    condition, asked->summary + strspn(asked->summary, " "));
}

static void fish(struct text *out)
{
    text_add(out, "# fish completion for mire, printed by `mire completion fish`\n");
    for (size_t i = 0; i < cli_command_count; i++) {
        text_printf(out, "complete -c mire -n __fish_use_subcommand -f -a %s -d '", cli_commands[i].name);
        add_quoted(out, cli_commands[i].summary, false);
        text_add(out, "'\n");
    }
    visit_all(out, put_fish);
}

bool completion_put(struct text *out, const char *shell)
{
    if (!strcmp(shell, "bash"))
        bash(out);
    else if (!strcmp(shell, "zsh"))
        zsh(out);
    else if (!strcmp(shell, "fish"))
        fish(out);
    else
        return false;
    return true;
}

int cli_completion(int argc, char **argv)
{
    static const struct cli_page page = {.synopsis = "bash|zsh|fish",
                                         .about =
                                             "Print the script with which a shell completes these commands. For the "
                                             "current shell: source <(mire completion bash). Packages install it."};
    MIRE_SCOPED(text_fini) struct text out = {0};
    int status;

    if (!cli_begin(&status, &argc, &argv, NULL, 0, &page))
        return status;
    if (argc != 2 || !completion_put(&out, argv[1]))
        return cli_wrong("mire completion", "which shell? Say bash, zsh or fish");
    fwrite(out.bytes ? out.bytes : "", 1, out.len, stdout);
    return text_failed(&out) ? CLI_FAILED : CLI_DONE;
}
