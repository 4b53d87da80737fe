/* mcp.c - `mire mcp`: a Model Context Protocol server on standard input and output, for an engineer's assistant. */
#include "cli/arguments.h"
#include "cli/cli.h"
#include "cli/fetch.h"
#include "cli/say.h"

#include "base/scope.h"
#include "mcp/mcp.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MESSAGE_MAX (1u << 20) /* bytes of a line */

static long ask(void *context, struct text *out, const char *method, const char *path, const struct text *body)
{
    return fetch_ask(context, out, method, path, body);
}

/* Read a line of any length up to the limit. Returns its length; -1 at the end; MESSAGE_MAX + 1 if it is longer, and skipped. */
static long read_message(struct text *out, FILE *from)
{
    size_t len = 0;
    int c;

    out->len = 0;
    while ((c = getc_unlocked(from)) != EOF && c != '\n') {
        char byte = (char)c;
        if (++len <= MESSAGE_MAX)
            text_append(out, &byte, 1);
    }
    if (c == EOF && !len)
        return -1;
    return text_failed(out) || len > MESSAGE_MAX ? (long)MESSAGE_MAX + 1 : (long)len;
}

static bool is_blank(const struct text *message)
{
    return strspn(message->bytes ? message->bytes : "", " \t\r") == message->len;
}

/* Answer each line until standard input ends. */
static int serve(struct mcp *mcp)
{
    static const char too_long[] = "{\"jsonrpc\":\"2.0\",\"id\":null,\"error\":{\"code\":-32600,\"message\":\"The "
                                   "message is larger than a megabyte\"}}";
    MIRE_SCOPED(text_fini) struct text message = {0};

    for (long len; (len = read_message(&message, stdin)) >= 0;) {
        MIRE_SCOPED(text_fini) struct text answer = {0};
        if (len > (long)MESSAGE_MAX)
            text_add(&answer, too_long);
        else if (!is_blank(&message))
            mcp_handle(mcp, &answer, message.bytes, message.len);
        if (text_failed(&answer)) {
            fputs("mire mcp: no memory\n", stderr);
            return CLI_FAILED;
        }
        if (!answer.len)
            continue;
        fwrite(answer.bytes, 1, answer.len, stdout);
        putchar('\n');
        if (fflush(stdout)) {
            say(stderr, "mire mcp: standard output: %s\n", strerror(errno));
            return CLI_FAILED;
        }
    }
    return CLI_DONE;
}

int cli_mcp(int argc, char **argv)
{
    static const struct cli_page page = {
        .synopsis = "[OPTION]...",
        .about = "Speak the Model Context Protocol on standard input and output, so that an assistant can list issues, "
                 "read them, compare versions and search. An assistant starts it: docs/assistants.md has the lines for "
                 "its configuration."};
    const char *app = getenv("MIRE_APP");
    struct fetch_session session = {.server = fetch_server(), .key = getenv("MIRE_KEY")};
    struct mcp mcp = {.ask = ask, .context = &session, .app = app && *app ? app : NULL};
    const struct cli_option options[] = {
        {"app", "APP", "the app of queries that name none; default $MIRE_APP", .text = &mcp.app},
        CLI_SERVER(session.server),
        CLI_KEY(session.key, "personal token"),
        {"write", .help = "offer the tools that set states, assign and comment as well", .flag = &mcp.may_write},
    };
    int status;

    if (!cli_begin(&status, &argc, &argv, options, CLI_COUNT(options), &page))
        return status;
    if (argc > 1)
        return cli_wrong(argv[0], "it takes options alone, not '%s'", argv[1]);
    return serve(&mcp);
}
