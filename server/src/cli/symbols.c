/*
 * symbols.c - `mire symbols upload`: finds ELF files that have a build id and symbols, and sends them one by one. Links
 * below a PATH are not followed, other files are passed over.
 */
#include "cli/cli.h"

#include "base/id.h"
#include "base/scope.h"
#include "object/object.h"
#include "symbols/symbols.h"

#include <curl/curl.h>
#include <fcntl.h>
#include <fts.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define ANSWER_BYTES    1024
#define CONNECT_SECONDS 20L
#define STALL_SECONDS   60L /* without a byte moved */
#define TRIES           5   /* while the server answers 503: it starts, or has too much to do */
#define WAIT_MOST_S     30

struct upload {
    CURL *curl;
    const char *server;
    struct curl_slist *headers;
    unsigned stored;
    unsigned failed;
};

struct answer {
    char text[ANSWER_BYTES];
    size_t len;
};

static size_t keep_answer(char *bytes, size_t size, size_t count, void *context)
{
    struct answer *answer = context;
    size_t room = sizeof answer->text - 1 - answer->len;
    size_t len = size * count < room ? size * count : room;
    memcpy(answer->text + answer->len, bytes, len);
    answer->len += len;
    return size * count;
}

struct source {
    const unsigned char *bytes;
    size_t len;
    size_t at;
};

static size_t give_body(char *out, size_t size, size_t count, void *context)
{
    struct source *source = context;
    size_t len = source->len - source->at < size * count ? source->len - source->at : size * count;
    memcpy(out, source->bytes + source->at, len);
    source->at += len;
    return len;
}

/* HTTP status of the PUT, 0 if there was no answer; `answer` then says why. */
static long put(struct upload *upload, struct answer *answer, const char *name, const void *bytes, size_t len)
{
    char url[4096];
    long status = 0;
    struct source source = {bytes, len, 0};
    char *escaped = curl_easy_escape(upload->curl, name, 0);
    int fits = snprintf(url, sizeof url, "%s/api/v1/symbols?name=%s", upload->server, escaped ? escaped : "");
    curl_free(escaped);
    if (fits >= (int)sizeof url)
        return 0;
    curl_easy_setopt(upload->curl, CURLOPT_URL, url);
    curl_easy_setopt(upload->curl, CURLOPT_UPLOAD, 1L);
    curl_easy_setopt(upload->curl, CURLOPT_READFUNCTION, give_body);
    curl_easy_setopt(upload->curl, CURLOPT_READDATA, &source);
    curl_easy_setopt(upload->curl, CURLOPT_INFILESIZE_LARGE, (curl_off_t)len);
    curl_easy_setopt(upload->curl, CURLOPT_WRITEDATA, answer);
    CURLcode code = curl_easy_perform(upload->curl);
    if (code != CURLE_OK) {
        answer->len = (size_t)snprintf(answer->text, sizeof answer->text, "%s", curl_easy_strerror(code));
        return 0;
    }
    curl_easy_getinfo(upload->curl, CURLINFO_RESPONSE_CODE, &status);
    return status;
}

/* How long the server asks to be left alone. */
static unsigned wait_s(const struct upload *upload)
{
    curl_off_t asked = 0;
    curl_easy_getinfo(upload->curl, CURLINFO_RETRY_AFTER, &asked);
    return asked < 1 ? 1 : asked > WAIT_MOST_S ? WAIT_MOST_S : (unsigned)asked;
}

static void send_file(struct upload *upload, const char *path, const void *bytes, size_t len,
                      const struct object_facts *facts)
{
    char hex[2 * MIRE_OBJECT_ID_MAX + 1];
    struct answer answer = {0};
    const char *slash = strrchr(path, '/');
    long status = 0;
    for (int tries = 0; tries < TRIES && (!tries || status == 503); tries++) {
        if (tries)
            sleep(wait_s(upload));
        answer = (struct answer){0};
        status = put(upload, &answer, slash ? slash + 1 : path, bytes, len);
    }
    hex_format(hex, facts->id, facts->id_len);
    if (status == 201) {
        upload->stored++;
        printf("stored  %s  %-6s  %s\n", hex, facts->has_dwarf ? "debug" : "symtab", path);
    } else {
        upload->failed++;
        printf("failed  %s  %-6s  %s: %ld %s\n", hex, facts->has_dwarf ? "debug" : "symtab", path, status, answer.text);
    }
}

static void consider(struct upload *upload, const char *path)
{
    struct stat st;
    struct object_facts facts;
    MIRE_SCOPED(close_fd) int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0 || fstat(fd, &st) != 0 || !S_ISREG(st.st_mode) || st.st_size < 64)
        return;
    void *bytes = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
    if (bytes == MAP_FAILED)
        return;
    if (!object_look(&facts, bytes, (size_t)st.st_size, NULL, 0) && facts.id_len && !facts.universal &&
        (facts.has_dwarf || facts.has_symbols))
        send_file(upload, path, bytes, (size_t)st.st_size, &facts);
    munmap(bytes, (size_t)st.st_size);
}

static int walk(struct upload *upload, char *const *paths)
{
    FTS *tree = fts_open(paths, FTS_PHYSICAL | FTS_NOCHDIR | FTS_COMFOLLOW, NULL);
    if (!tree)
        return -1;
    for (FTSENT *entry; (entry = fts_read(tree));) {
        if (entry->fts_info == FTS_F)
            consider(upload, entry->fts_accpath);
        else if (entry->fts_info == FTS_NS || entry->fts_info == FTS_DNR || entry->fts_info == FTS_ERR)
            fprintf(stderr, "mire symbols: %s: %s\n", entry->fts_path, strerror(entry->fts_errno));
    }
    fts_close(tree);
    return 0;
}

static int upload_all(const char *server, const char *key, char *const *paths)
{
    char authorization[256];
    struct upload upload = {.server = server, .curl = curl_easy_init()};
    snprintf(authorization, sizeof authorization, "Authorization: Bearer %.200s", key);
    upload.headers = curl_slist_append(NULL, authorization);
    int rc = -1;
    if (upload.curl && upload.headers) {
        curl_easy_setopt(upload.curl, CURLOPT_HTTPHEADER, upload.headers);
        curl_easy_setopt(upload.curl, CURLOPT_WRITEFUNCTION, keep_answer);
        curl_easy_setopt(upload.curl, CURLOPT_PROTOCOLS_STR, "http,https");
        curl_easy_setopt(upload.curl, CURLOPT_CONNECTTIMEOUT, CONNECT_SECONDS);
        curl_easy_setopt(upload.curl, CURLOPT_LOW_SPEED_LIMIT, 1L);
        curl_easy_setopt(upload.curl, CURLOPT_LOW_SPEED_TIME, STALL_SECONDS);
        rc = walk(&upload, paths);
    }
    curl_slist_free_all(upload.headers);
    curl_easy_cleanup(upload.curl);
    if (!rc && !upload.stored && !upload.failed)
        fprintf(stderr, "mire symbols: no ELF file with a build id and symbols there\n");
    return !rc && upload.stored && !upload.failed ? 0 : 1;
}

static const char usage[] = "Usage: mire symbols upload [--server URL] [--key KEY] PATH...\n\n"
                            "Send every ELF file at or below a PATH that has a build id and DWARF or a symbol table; "
                            "one line a file tells what\n"
                            "came of it. The key needs the scope symbols (mire key create APP --scope symbols).\n"
                            "MIRE_SERVER and MIRE_KEY stand in for the options.\n\n"
                            "mire symbols look FILE [ADDRESS]... asks a file at hand; see its --help.\n";

int cli_symbols(int argc, char **argv)
{
    const char *server = getenv("MIRE_SERVER");
    const char *key = getenv("MIRE_KEY");
    int at = 2;
    if (argc > 1 && !strcmp(argv[1], "look"))
        return cli_symbols_look(argc - 2, argv + 2);
    if (argc == 2 && !strcmp(argv[1], "--help")) {
        fputs(usage, stdout);
        return CLI_DONE;
    }
    for (; at + 1 < argc; at += 2) {
        if (!strcmp(argv[at], "--server"))
            server = argv[at + 1];
        else if (!strcmp(argv[at], "--key"))
            key = argv[at + 1];
        else
            break;
    }
    if (argc < 3 || strcmp(argv[1], "upload") != 0 || !server || !key || at >= argc || argv[at][0] == '-') {
        fputs(usage, stderr);
        return CLI_USAGE;
    }
    return upload_all(server, key, argv + at) ? CLI_FAILED : CLI_DONE;
}
