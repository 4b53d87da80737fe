/* dsn.c - see dsn.h. Source: develop.sentry.dev, "Authentication". */
#include "access/dsn.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

bool dsn_is_of(const struct request *request)
{
    return !strncmp(request->route->pattern, MIRE_SENTRY_PATH, sizeof MIRE_SENTRY_PATH - 1);
}

/* "Sentry sentry_version=7, sentry_key=KEY, sentry_client=..." */
static const char *key_of(char room[MIRE_KEY_TEXT], const char *sent)
{
    static const char name[] = "sentry_key=";
    const char *key = sent && !strncasecmp(sent, "Sentry ", 7) ? strstr(sent, name) : NULL;
    size_t len = key ? strcspn(key + sizeof name - 1, ", \t") : 0;
    if (!len || len >= MIRE_KEY_TEXT)
        return NULL;
    memcpy(room, key + sizeof name - 1, len);
    room[len] = '\0';
    return room;
}

const char *dsn_key(char room[MIRE_KEY_TEXT], const struct request *request)
{
    const char *key = request_bearer(request);
    if (!key)
        key = key_of(room, request_header(request, "X-Sentry-Auth"));
    if (!key)
        key = key_of(room, request_header(request, "Authorization"));
    return key ? key : request_query(request, "sentry_key");
}

bool dsn_names_app(const struct request *request, int32_t app_id)
{
    char number[16];
    snprintf(number, sizeof number, "%d", (int)app_id);
    return !strcmp(number, request_param(request, 0));
}
