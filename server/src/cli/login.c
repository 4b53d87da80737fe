/*
 * login.c - `mire login` gets a personal token by name and password or by a one-time code of the profile page, or takes
 * one that was made there, and keeps it for this server; `mire logout` ends it. Commands that ask a server find it (fetch_token).
 */
#include "cli/arguments.h"
#include "cli/cli.h"
#include "cli/fetch.h"
#include "cli/say.h"

#include "base/id.h"
#include "base/scope.h"
#include "json/json.h"

#include <curl/curl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <termios.h>
#include <unistd.h>

struct login {
    const char *server, *scope, *name;
    int64_t days;
    bool takes_token, takes_code;
};

static int failed(const char *text)
{
    say(stderr, "mire login: %s\n", text);
    return CLI_FAILED;
}

/* A line of standard input, without echo where it is a secret on a terminal. False: there is none. */
static bool read_line(char *out, size_t room, const char *prompt, bool is_secret)
{
    struct termios before, quiet;
    bool is_terminal = isatty(0) && tcgetattr(0, &before) == 0;

    if (is_terminal)
        say(stderr, "%s", prompt);
    if (is_terminal && is_secret) {
        quiet = before;
        quiet.c_lflag &= ~(tcflag_t)ECHO;
        tcsetattr(0, TCSAFLUSH, &quiet);
    }
    bool got = fgets(out, (int)room, stdin) != NULL;
    if (is_terminal && is_secret) {
        tcsetattr(0, TCSAFLUSH, &before);
        say(stderr, "\n");
    }
    if (got)
        out[strcspn(out, "\r\n")] = '\0';
    return got;
}

/* The text of a member of the answer. */
static bool read_member(char *out, size_t room, const struct text *answer, const char *name)
{
    const struct json_limits limits = MIRE_JSON_LIMITS;
    struct json_fault fault;
    struct json json;

    json_init(&json);
    bool got = json_read(&json, &fault, answer->bytes ? answer->bytes : "", answer->len, &limits) == MIRE_JSON_OK &&
               json_kind(&json, 0) == MIRE_JSON_OBJECT;
    uint32_t at = got ? json_member(&json, 0, name) : 0;
    got = at && json_kind(&json, at) == MIRE_JSON_STRING && json_size(&json, at) < room;
    if (got)
        out[json_text(out, &json, at)] = '\0';
    json_fini(&json);
    return got;
}

/* A sign-in, by whose cookie the token is made, and which ends again. */
static int make_token(char out[MIRE_KEY_TEXT], const struct login *login, const struct text *who)
{
    MIRE_SCOPED(text_fini) struct text asked = {0}, answer = {0}, nothing = {0};
    char host[200] = "", label[256];

    gethostname(host, sizeof host - 1);
    snprintf(label, sizeof label, "mire login on %s", host);
    text_printf(&asked, "{\"days\":%lld,\"scope\":\"%s\",\"label\":", (long long)login->days, login->scope);
    text_add_json(&asked, label, strlen(label));
    text_add(&asked, "}");
    if (text_failed(who) || text_failed(&asked))
        return failed("no memory");
    const struct fetch_step steps[] = {{"POST", "/api/v1/sign-in", who, &nothing},
                                       {"POST", "/api/v1/tokens", &asked, &answer},
                                       {"DELETE", "/api/v1/sign-in", NULL, &nothing}};
    if (fetch_steps(login->server, steps, CLI_COUNT(steps)))
        return CLI_FAILED;
    return read_member(out, MIRE_KEY_TEXT, &answer, "secret") ? CLI_DONE : failed("the server answered no token");
}

/* Append a member of an object. */
static void add_member(struct text *out, const char *name, const char *value)
{
    text_printf(out, "%s\"%s\":", out->len ? "," : "{", name);
    text_add_json(out, value, strlen(value));
}

static int by_password(char out[MIRE_KEY_TEXT], const struct login *login)
{
    MIRE_SCOPED(text_fini) struct text who = {0};
    char name[128], password[1025];

    if (!login->name && !read_line(name, sizeof name, "Name: ", false))
        return failed("no name");
    if (!read_line(password, sizeof password, "Password: ", true))
        return failed("no password");
    add_member(&who, "name", login->name ? login->name : name);
    add_member(&who, "password", password);
    text_add(&who, "}");
    int status = make_token(out, login, &who);
    explicit_bzero(password, sizeof password);
    explicit_bzero(who.bytes, who.len);
    return status;
}

static int by_code(char out[MIRE_KEY_TEXT], const struct login *login)
{
    MIRE_SCOPED(text_fini) struct text who = {0};
    char code[128];

    say(stderr, "Open %s/-/profile in a browser, sign in, make a code for the command line, and paste it here.\n",
        login->server);
    if (!read_line(code, sizeof code, "Code: ", true))
        return failed("no code");
    add_member(&who, "code", code);
    text_add(&who, "}");
    return make_token(out, login, &who);
}

/* Do people sign in there by another site? -1 after saying why it cannot be asked. */
static int has_provider(const struct login *login)
{
    MIRE_SCOPED(text_fini) struct text answer = {0};
    const struct fetch_step steps[] = {{"GET", "/api/v1/sign-in", NULL, &answer}};
    char name[1024];

    if (fetch_steps(login->server, steps, CLI_COUNT(steps)))
        return -1;
    return read_member(name, sizeof name, &answer, "provider");
}

static int get_token(char out[MIRE_KEY_TEXT], const struct login *login)
{
    int other = login->takes_code;

    if (!other && !login->name)
        other = has_provider(login);
    if (other < 0)
        return CLI_FAILED;
    return other ? by_code(out, login) : by_password(out, login);
}

static const char *take_scope(void *context, char *value)
{
    struct login *login = context;

    login->scope = value;
    bool known = !strcmp(value, "read") || !strcmp(value, "triage") || !strcmp(value, "admin");
    return known ? NULL : "the scope is read, triage or admin";
}

static const char *take_days(void *context, char *value)
{
    struct login *login = context;
    char *end;

    login->days = strtol(value, &end, 10);
    return *value && !*end && login->days >= 1 && login->days <= 3650 ? NULL : "the days are a number from 1 to 3650";
}

int cli_login(int argc, char **argv)
{
    static const struct cli_page page = {
        .synopsis = "[OPTION]...",
        .about = "Ask for your name and password, or for a code from your profile page if people sign in through a "
                 "provider. Get a personal token, and store it in ~/.config/mire/tokens, readable by this user only. "
                 "Other commands send the token to this server unless they have another key."};
    struct login login = {.server = fetch_server(), .scope = "triage", .days = 90};
    const struct cli_option options[] = {
        CLI_SERVER(login.server),
        {"scope", "SCOPE", "the rights of the token: read, triage (the default) or admin", "read triage admin",
         .take = take_scope, .context = &login},
        {"days", "N", "days until the token expires; default 90", .take = take_days, .context = &login},
        {"name", "NAME", "sign in as NAME with a password; do not ask for the name", .text = &login.name},
        {"code", .help = "sign in with a code from your profile page", .flag = &login.takes_code},
        {"token", .help = "read a token, created on your profile page, from standard input",
         .flag = &login.takes_token},
    };
    char token[128] = "";
    int status;

    if (!cli_begin(&status, &argc, &argv, options, CLI_COUNT(options), &page))
        return status;
    if (argc > 1)
        return cli_wrong("mire login", "there is a word too many");
    if (!login.takes_token)
        status = get_token(token, &login);
    else if (!read_line(token, sizeof token, "Token: ", true) || !key_is_wellformed(token, strlen(token)))
        status = failed("that is no token: it is mk_ and 40 letters and digits");
    else
        status = CLI_DONE;
    if (status == CLI_DONE && !fetch_keep_token(login.server, token))
        status = failed("the token cannot be kept: is ~/.config writable?");
    explicit_bzero(token, sizeof token);
    if (status == CLI_DONE)
        say(stdout, "signed in at %s\n", login.server);
    return status;
}

int cli_logout(int argc, char **argv)
{
    static const struct cli_page page = {.synopsis = "[OPTION]...",
                                         .about = "Delete the stored token of the server. If somebody else may have "
                                                  "it, revoke it on your profile page as well."};
    const char *server = fetch_server();
    const struct cli_option options[] = {CLI_SERVER(server)};
    int status;

    if (!cli_begin(&status, &argc, &argv, options, CLI_COUNT(options), &page))
        return status;
    if (!fetch_keep_token(server, NULL))
        return failed("the token cannot be forgotten: is ~/.config writable?");
    say(stdout, "signed out at %s\n", server);
    return CLI_DONE;
}
