/* asking.c - see asking.h. */
#include "cli/asking.h"

#include "base/scope.h"
#include "cli/answer.h"
#include "cli/cli.h"
#include "cli/fetch.h"

#include <stdio.h>
#include <stdlib.h>

struct asking asking_begin(const char *command)
{
    const char *key = getenv("MIRE_KEY");
    struct asking asking = {.command = command, .server = fetch_server(), .key = key && *key ? key : NULL};

    json_init(&asking.json);
    return asking;
}

void asking_end(struct asking *asking)
{
    json_fini(&asking->json);
    text_fini(&asking->answer);
}

bool asking_has_key(const struct asking *asking)
{
    return asking->key || fetch_token(asking->server);
}

int asking_send(struct asking *asking, const char *method, const char *path, const struct text *body)
{
    static const struct text nothing = {.bytes = ""};
    MIRE_SCOPED(text_fini) struct text url = {0};

    fetch_app_url(&url, asking->server, asking->app);
    text_add(&url, path);
    text_fini(&asking->answer);
    if (text_failed(&url) || (body && text_failed(body)))
        return CLI_FAILED;
    int rc = method ? fetch_send(&asking->answer, method, url.bytes, asking->key, body ? body : &nothing)
                    : fetch_get(&asking->answer, url.bytes, asking->key);
    return !rc && answer_read(&asking->json, &asking->answer, asking->command, asking->server) ? CLI_DONE : CLI_FAILED;
}

int asking_get(struct asking *asking, const char *path)
{
    return asking_send(asking, NULL, path, NULL);
}

void asking_print(const struct asking *asking)
{
    fwrite(asking->answer.bytes, 1, asking->answer.len, stdout);
    fputc('\n', stdout);
}
