/*
 * origin.c - see origin.h.
 */
#include "access/origin.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

#define HOST_MAX 256

/* Cut the port off; an address of IPv6 stands in brackets. False: it is no host. */
static bool cut_port(char out[HOST_MAX], const char *host)
{
    size_t len = host[0] == '[' ? strcspn(host, "]") + 1 : strcspn(host, ":");
    size_t all = strlen(host);
    if (len > all || len >= HOST_MAX || !len || (host[len] && host[len] != ':'))
        return false;
    memcpy(out, host, len);
    out[len] = '\0';
    return true;
}

static bool is_address(const char *name)
{
    struct http_peer peer;
    char inner[HOST_MAX];
    size_t len = strlen(name);
    if (name[0] != '[')
        return http_peer_parse(&peer, name);
    snprintf(inner, sizeof inner, "%.*s", (int)(len - 2), name + 1);
    return name[len - 1] == ']' && http_peer_parse(&peer, inner);
}

bool origin_knows_host(const char *hosts, const char *host)
{
    char name[HOST_MAX];
    if (!cut_port(name, host))
        return false;
    size_t len = strlen(name);
    if (is_address(name) || !strcasecmp(name, "localhost"))
        return true;
    for (const char *at = hosts + strspn(hosts, " "); *at; at += strspn(at, " ")) {
        size_t part = strcspn(at, " ");
        if (part == len && !strncasecmp(at, name, len))
            return true;
        at += part;
    }
    return false;
}

bool origin_is_named(const char *urls, const char *scheme, const char *host)
{
    char name[HOST_MAX], one[HOST_MAX];
    size_t scheme_len = strlen(scheme);
    if (!urls || !cut_port(name, host))
        return false;
    for (const char *at = urls + strspn(urls, " "); *at; at += strcspn(at, " "), at += strspn(at, " ")) {
        if (strncasecmp(at, scheme, scheme_len) != 0 || strncmp(at + scheme_len, "://", 3) != 0)
            continue;
        const char *begin = at + scheme_len + 3;
        snprintf(one, sizeof one, "%.*s", (int)strcspn(begin, "/ "), begin);
        char named[HOST_MAX];
        if (cut_port(named, one) && !strcasecmp(named, name))
            return true;
    }
    return false;
}

bool origin_is_loopback(const char *host)
{
    char name[HOST_MAX], inner[HOST_MAX];
    struct http_peer peer;
    if (!cut_port(name, host))
        return false;
    if (!strcasecmp(name, "localhost"))
        return true;
    size_t len = strlen(name);
    snprintf(inner, sizeof inner, "%.*s", (int)(name[0] == '[' ? len - 2 : len), name + (name[0] == '['));
    return http_peer_parse(&peer, inner) && http_peer_is_loopback(&peer);
}

static bool refuse(const struct request *request, struct reply *reply, int status, const char *code, const char *text)
{
    (void)reply_error(reply, request, status, code, "%s", text);
    return true;
}

/* "https://mire.example.com:8443" is the origin of pages of the host that was asked. */
static bool is_own(const char *origin, const char *host)
{
    const char *begin = strstr(origin, "://");
    return begin && !strcasecmp(begin + 3, host);
}

/* A browser says that another site's page asks. */
static bool is_foreign(const struct request *request, bool changes)
{
    const char *site = request_header(request, "Sec-Fetch-Site"), *mode = request_header(request, "Sec-Fetch-Mode");
    const char *origin = request_header(request, "Origin");
    bool is_link = !changes && mode && !strcmp(mode, "navigate");
    if (changes && origin && !is_own(origin, request->host))
        return true;
    return site && strcmp(site, "same-origin") != 0 && strcmp(site, "none") != 0 && !is_link;
}

bool origin_refuse(const char *hosts, bool may_be_nobody, const struct request *request, struct reply *reply)
{
    bool changes = request->method != MIRE_HTTP_GET;
    if (*request->host && !origin_knows_host(hosts, request->host))
        return refuse(
            request, reply, 421, "host",
            "This server does not answer for that host. Name the host in public_url (docs/configuration.md).");
    if (is_foreign(request, changes))
        return refuse(request, reply, 403, "origin", "A page of another origin may not send this request.");
    if (changes && may_be_nobody && !request_header(request, MIRE_CHANGE_HEADER))
        return refuse(request, reply, 403, "origin",
                      "A change without a key needs the header " MIRE_CHANGE_HEADER
                      ": 1, which no foreign page can send.");
    return false;
}
