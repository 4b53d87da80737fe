/* debuginfod.c - one GET, bounded in time and bytes. */
#include "fetch/debuginfod.h"

#include <curl/curl.h>
#include <stdio.h>
#include <unistd.h>

#define CONNECT_SECONDS 10L
#define STALL_SECONDS   20L /* without a byte moved */
#define REDIRECTS       5L

struct download {
    int fd;
    uint64_t bytes, most;
    const _Atomic bool *stopping;
};

static size_t keep(char *bytes, size_t size, size_t count, void *context)
{
    struct download *download = context;
    size_t len = size * count;

    if (len > download->most - download->bytes)
        return 0;
    for (size_t done = 0; done < len;) {
        ssize_t n = write(download->fd, bytes + done, len - done);
        if (n <= 0)
            return 0;
        done += (size_t)n;
    }
    download->bytes += len;
    return len;
}

static int look_up(void *context, curl_off_t all, curl_off_t now, curl_off_t up_all, curl_off_t up)
{
    const struct download *download = context;
    (void)all, (void)now, (void)up_all, (void)up;
    return atomic_load_explicit(download->stopping, memory_order_relaxed);
}

static void prepare(CURL *curl, struct download *download, const struct debuginfod_options *options, const char *url)
{
    curl_easy_setopt(curl, CURLOPT_URL, url);
    curl_easy_setopt(curl, CURLOPT_PROTOCOLS_STR, "http,https");
    curl_easy_setopt(curl, CURLOPT_REDIR_PROTOCOLS_STR, "http,https");
    curl_easy_setopt(curl, CURLOPT_FOLLOWLOCATION, 1L);
    curl_easy_setopt(curl, CURLOPT_MAXREDIRS, REDIRECTS);
    curl_easy_setopt(curl, CURLOPT_FAILONERROR, 1L); /* the page of a 404 is no debug file */
    curl_easy_setopt(curl, CURLOPT_NOSIGNAL, 1L);
    curl_easy_setopt(curl, CURLOPT_USERAGENT, "mired/" MIRE_VERSION);
    curl_easy_setopt(curl, CURLOPT_CONNECTTIMEOUT, CONNECT_SECONDS);
    curl_easy_setopt(curl, CURLOPT_TIMEOUT, options->within_s);
    curl_easy_setopt(curl, CURLOPT_LOW_SPEED_LIMIT, 1L);
    curl_easy_setopt(curl, CURLOPT_LOW_SPEED_TIME, STALL_SECONDS);
    curl_easy_setopt(curl, CURLOPT_WRITEFUNCTION, keep);
    curl_easy_setopt(curl, CURLOPT_WRITEDATA, download);
    curl_easy_setopt(curl, CURLOPT_NOPROGRESS, 0L);
    curl_easy_setopt(curl, CURLOPT_XFERINFOFUNCTION, look_up);
    curl_easy_setopt(curl, CURLOPT_XFERINFODATA, download);
}

enum debuginfod_answer debuginfod_get(char *why, size_t room, int fd, const struct debuginfod_options *options,
                                      const char *build_id)
{
    char url[2048];
    long status = 0;
    struct download download = {.fd = fd, .most = options->most_bytes, .stopping = options->stopping};
    CURL *curl = curl_easy_init();

    snprintf(why, room, "out of memory");
    if (!curl)
        return DEBUGINFOD_FAILED;
    snprintf(url, sizeof url, "%.1500s/buildid/%s/debuginfo", options->server, build_id);
    prepare(curl, &download, options, url);
    CURLcode code = curl_easy_perform(curl);
    curl_easy_getinfo(curl, CURLINFO_RESPONSE_CODE, &status);
    curl_easy_cleanup(curl);
    if (code == CURLE_OK && download.bytes)
        return DEBUGINFOD_FOUND;
    if (code == CURLE_HTTP_RETURNED_ERROR && (status == 404 || status == 410))
        return DEBUGINFOD_NONE;
    if (code == CURLE_HTTP_RETURNED_ERROR)
        snprintf(why, room, "answered %ld", status);
    else if (code == CURLE_WRITE_ERROR)
        snprintf(why, room, "sent more than %llu MiB, or there was no room for it",
                 (unsigned long long)(options->most_bytes >> 20));
    else
        snprintf(why, room, "%s", code == CURLE_OK ? "sent nothing" : curl_easy_strerror(code));
    return DEBUGINFOD_FAILED;
}
