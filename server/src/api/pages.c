/*
 * pages.c - the built dashboard.
 *
 *     /assets/NAME   the file, for ever (its name changes with its content); 404 if it is not there
 *     /NAME.EXT      the file, asked for each time; 404 if it is not there
 *     /docs/NAME     the user documentation: web_dir/docs/NAME.html, or web_dir/docs/NAME if it has an extension
 *     anything else  index.html, asked for each time: the page reads the rest of the path itself
 *
 * A file name has only letters, digits, '-', '_' and '.', and no segment begins with '.', so no request leaves web_dir.
 * Beside NAME may lie NAME.br and NAME.gz, for clients that accept them.
 */
#include "api/call.h"
#include "api/handlers.h"
#include "base/text.h"

#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define FILE_MAX (32 << 20)

static bool name_is_safe(const char *name)
{
    bool begins = true;

    for (const char *p = name; *p; p++) {
        bool plain =
            (*p >= 'a' && *p <= 'z') || (*p >= 'A' && *p <= 'Z') || (*p >= '0' && *p <= '9') || *p == '_' || *p == '-';
        if (begins ? !plain : !plain && *p != '.' && *p != '/')
            return false;
        begins = *p == '/';
    }

    return *name && !begins;
}

static const char *type_of(const char *name)
{
    static const struct {
        const char *end, *type;
    } types[] = {
        {".html", "text/html; charset=utf-8"},
        {".js", "text/javascript; charset=utf-8"},
        {".css", "text/css; charset=utf-8"},
        {".json", "application/json"},
        {".svg", "image/svg+xml"},
        {".png", "image/png"},
        {".ico", "image/x-icon"},
        {".webmanifest", "application/manifest+json"},
        {".txt", "text/plain; charset=utf-8"},
    };
    const char *dot = strrchr(name, '.');

    for (size_t i = 0; dot && i < sizeof types / sizeof *types; i++)
        if (strcmp(dot, types[i].end) == 0)
            return types[i].type;
    return "application/octet-stream";
}

/* Append the bytes of a file. 0, 1 if there is no such file, or a fault. */
static int read_file(struct text *out, const char *path)
{
    int fd MIRE_SCOPED(close_fd) = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    struct stat st;
    char buffer[16384];

    ssize_t got;

    if (fd < 0 || fstat(fd, &st) != 0 || !S_ISREG(st.st_mode) || st.st_size > FILE_MAX)
        return 1;
    while ((got = read(fd, buffer, sizeof buffer)) > 0)
        text_append(out, buffer, (size_t)got);
    if (got < 0)
        return MIRE_FAULT_SYSTEM;
    return text_failed(out) ? MIRE_FAULT_MEMORY : 0;
}

/* Reply with web_dir/name, compressed if possible. 0, 1 if there is no such file, or a fault. */
static int send_file(const struct api *api, struct request *request, struct reply *reply, const char *name,
                     const char *keep)
{
    static const struct {
        const char *coding, *end;
    } forms[] = {{"br", ".br"}, {"gzip", ".gz"}, {NULL, ""}};
    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++) {
        if (forms[i].coding && !request_takes(request, forms[i].coding))
            continue;
        const char *path = arena_printf(request->arena, "%s/%s%s", api->web_dir, name, forms[i].end);
        int rc = path ? read_file(&reply->text, path) : MIRE_FAULT_MEMORY;
        if (rc < 0)
            return rc;
        if (rc > 0)
            continue;
        reply->status = 200;
        reply->type = type_of(name);
        if (forms[i].coding)
            reply_header(reply, "Content-Encoding", forms[i].coding);
        reply_header(reply, "Vary", "Accept-Encoding");
        reply_header(reply, "Cache-Control", keep);
        call_etag(request, reply, reply->text.bytes, reply->text.len);
        return 0;
    }

    return 1;
}

static int no_such_file(struct request *request, struct reply *reply)
{
    return reply_error(reply, request, 404, NULL, "There is no file %.*s.", TEXT_CUT(request->path, 150));
}

int get_asset(void *context, struct request *request, struct reply *reply)
{
    const struct api *api = context;
    const char *name = request->path + 1;

    if (!api->web_dir || !name_is_safe(name))
        return no_such_file(request, reply);
    int rc = send_file(api, request, reply, name, "public, max-age=31536000, immutable");
    return rc > 0 ? no_such_file(request, reply) : rc;
}

/* Serve /docs/, /docs/zh/, /docs/NAME and /docs/FILE.EXT. */
int get_docs(void *context, struct request *request, struct reply *reply)
{
    const struct api *api = context;
    const char *path = request->path + 1, *last = strrchr(path, '/');

    /* Links in the pages are absolute: only the name of the start is missing. */
    if (!last || !strcmp(path, "docs/zh")) {
        reply->status = 302;
        reply->body = "";
        reply_header(reply, "Location", last ? "/docs/zh/" : "/docs/");
        return MIRE_HTTP_DONE;
    }
    const char *end = !last[1] ? "index.html" : strchr(last, '.') ? "" : ".html";
    const char *name = arena_printf(request->arena, "%s%s", path, end);
    if (!name)
        return MIRE_FAULT_MEMORY;
    if (!api->web_dir || !name_is_safe(name))
        return no_such_file(request, reply);
    int rc = send_file(api, request, reply, name, "no-cache");
    return rc > 0 ? no_such_file(request, reply) : rc;
}

int get_page(void *context, struct request *request, struct reply *reply)
{
    static const char unbuilt[] =
        "The dashboard is not where mired looks for it (`mired check` says where). In Mire's source "
        "tree run:\n\n    make\n\n"
        "and install it, or point mired at the result: --web-dir web/dist\n"
        "The API answers under /api/v1 all the same.\n";
    const struct api *api = context;
    const char *name = request->path + 1;
    bool is_file = !strchr(name, '/') && strchr(name, '.');

    if (is_file && (!api->web_dir || !name_is_safe(name)))
        return no_such_file(request, reply);
    int rc = api->web_dir ? send_file(api, request, reply, is_file ? name : "index.html", "no-cache") : 1;
    if (rc <= 0)
        return rc;
    if (is_file)
        return no_such_file(request, reply);
    reply->status = 503;
    reply->type = "text/plain; charset=utf-8";
    reply->body = unbuilt;
    reply->body_len = sizeof unbuilt - 1;
    reply_header(reply, "Cache-Control", "no-store");
    return MIRE_HTTP_DONE;
}
