/*
 * fuzz_target.c - any request target through parsing and routing.
 */
#include "http/http.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const struct http_route routes[] = {
    {.method = MIRE_HTTP_GET, .pattern = "/api/v1/apps/{app}/issues/{issue}/reports/{report}"},
    {.method = MIRE_HTTP_POST, .pattern = "/api/v1/reports"},
    {.method = MIRE_HTTP_GET, .pattern = "/*"},
};

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const struct http_table table = {routes, sizeof routes / sizeof *routes, NULL};
    struct arena arena;
    void *context;
    char allowed[64];
    arena_init(&arena, 1 << 20);
    char *target = arena_copy(&arena, (const char *)data, size);
    struct request request = {.arena = &arena};
    if (target && !request_parse_target(&request, target)) {
        if (strstr(request.path, "/../"))
            abort();
        for (size_t i = 0; i < request.query_count; i++)
            if (!request_query(&request, request.query[i].name))
                abort();
        http_route_find(&request, &context, allowed, &table, 1);
    }
    arena_fini(&arena);
    return 0;
}
