/*
 * reply.c - what a handler writes. Pure.
 */
#include "http/http.h"

#include "base/fault.h"
#include "base/text.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

bool reply_header(struct reply *reply, const char *name, const char *value)
{
    if (reply->header_count == MIRE_HTTP_HEADERS_MAX || !value || strpbrk(value, "\r\n"))
        return false;
    reply->headers[reply->header_count++] = (struct http_pair){name, value};
    return true;
}

int reply_json(struct reply *reply, int status)
{
    if (text_failed(&reply->text))
        return MIRE_FAULT_MEMORY;
    reply->status = status;
    reply->type = "application/json";
    reply->body = NULL;
    reply->body_len = 0;
    return MIRE_HTTP_DONE;
}

const char *http_status_text(int status)
{
    static const struct {
        int status;
        const char *text;
    } words[] = {{200, "OK"},
                 {201, "Created"},
                 {202, "Accepted"},
                 {204, "No Content"},
                 {304, "Not Modified"},
                 {400, "Bad Request"},
                 {401, "Unauthorized"},
                 {403, "Forbidden"},
                 {404, "Not Found"},
                 {405, "Method Not Allowed"},
                 {409, "Conflict"},
                 {411, "Length Required"},
                 {413, "Content Too Large"},
                 {414, "URI Too Long"},
                 {415, "Unsupported Media Type"},
                 {417, "Expectation Failed"},
                 {421, "Misdirected Request"},
                 {422, "Unprocessable Content"},
                 {429, "Too Many Requests"},
                 {431, "Request Header Fields Too Large"},
                 {500, "Internal Server Error"},
                 {501, "Not Implemented"},
                 {503, "Service Unavailable"},
                 {507, "Insufficient Storage"}};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (words[i].status == status)
            return words[i].text;
    return "Error";
}

static void add_member(struct text *out, const char *name, const char *value)
{
    text_printf(out, "%s\"%s\":", out->len > 1 ? "," : "", name);
    text_add_json(out, value, strlen(value));
}

int reply_problem(struct reply *reply, const struct request *request, int status, const struct problem *problem)
{
    struct text *out = &reply->text;
    char type[96];
    if (problem->code)
        snprintf(type, sizeof type, "urn:mire:problem:%s", problem->code);
    else
        snprintf(type, sizeof type, "about:blank");
    text_fini(out);
    text_add(out, "{");
    add_member(out, "type", type);
    add_member(out, "title", http_status_text(status));
    text_printf(out, ",\"status\":%d", status);
    if (problem->text[0])
        add_member(out, "detail", problem->text);
    if (problem->position >= 0)
        text_printf(out, ",\"position\":%lld", problem->position);
    if (problem->has_path)
        add_member(out, "path", problem->path);
    add_member(out, "request_id", request->id);
    text_add(out, "}");
    reply->status = status;
    reply->type = "application/problem+json";
    reply->body = NULL;
    reply->body_len = 0;
    return MIRE_HTTP_DONE;
}

int reply_error(struct reply *reply, const struct request *request, int status, const char *code, const char *format,
                ...)
{
    struct problem problem = MIRE_PROBLEM_INIT;
    va_list args;
    problem.code = code;
    va_start(args, format);
    text_vformat(problem.text, sizeof problem.text, format, args);
    va_end(args);
    return reply_problem(reply, request, status, &problem);
}

int reply_retry(struct reply *reply, const struct request *request, int after_s, const char *code, const char *text)
{
    reply_header(reply, "Retry-After", arena_printf(request->arena, "%d", after_s));
    return reply_error(reply, request, 503, code, "%s", text);
}
