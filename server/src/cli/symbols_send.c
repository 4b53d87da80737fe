/* symbols_send.c - threads that send one file after the other, each on its own connection. */
#include "cli/symbols_send.h"
#include "cli/fetch.h"
#include "cli/say.h"

#include "base/id.h"
#include "symbolizer/symbolizer.h"

#include <curl/curl.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define ANSWER_BYTES    4096
#define CONNECT_SECONDS 20L
#define STALL_SECONDS   60L /* without a byte moved */
#define TRIES           8   /* in a row without progress */
#define WAIT_MOST_S     30
#define HASH            32
#define NAME_MOST       300 /* bytes, each of which may take three in a URL */

struct sending {
    const struct found *found;
    const struct send_options *options;
    pthread_mutex_t mutex; /* guards the members below, and stdout */
    size_t next;           /* file to take */
    size_t wanted, ended;  /* files to send, and finished ones */
    uint64_t bytes_all, bytes_sent;
    struct send_result *result;
};

struct connection { /* one for each thread */
    struct sending *sending;
    CURL *curl;
    struct curl_slist *headers;
    char answer[ANSWER_BYTES];
    size_t answer_len;
    char hash[2 * HASH + 1];
    const char *version, *build; /* of a mapping of Java names; NULL: none */
};

static size_t keep_answer(char *bytes, size_t size, size_t count, void *context)
{
    struct connection *line = context;
    size_t room = sizeof line->answer - 1 - line->answer_len;
    size_t len = size * count < room ? size * count : room;
    memcpy(line->answer + line->answer_len, bytes, len);
    line->answer[line->answer_len += len] = '\0';
    return size * count;
}

static bool line_open(struct connection *line, struct sending *sending)
{
    char authorization[256];

    *line = (struct connection){.sending = sending, .curl = curl_easy_init()};
    snprintf(authorization, sizeof authorization, "Authorization: Bearer %.200s", sending->options->key);
    line->headers = curl_slist_append(NULL, authorization);
    if (!line->curl || !line->headers)
        return false;
    curl_easy_setopt(line->curl, CURLOPT_HTTPHEADER, line->headers);
    curl_easy_setopt(line->curl, CURLOPT_WRITEFUNCTION, keep_answer);
    curl_easy_setopt(line->curl, CURLOPT_WRITEDATA, line);
    curl_easy_setopt(line->curl, CURLOPT_PROTOCOLS_STR, "http,https");
    curl_easy_setopt(line->curl, CURLOPT_NOSIGNAL, 1L);
    curl_easy_setopt(line->curl, CURLOPT_CONNECTTIMEOUT, CONNECT_SECONDS);
    curl_easy_setopt(line->curl, CURLOPT_LOW_SPEED_LIMIT, 1L);
    curl_easy_setopt(line->curl, CURLOPT_LOW_SPEED_TIME, STALL_SECONDS);
    return true;
}

static void line_close(struct connection *line)
{
    curl_slist_free_all(line->headers);
    curl_easy_cleanup(line->curl);
}

/* HTTP status; 0: there was no answer, and line->answer has the reason. */
static long perform(struct connection *line, const char *url)
{
    long status = 0;

    line->answer_len = 0;
    line->answer[0] = '\0';
    curl_easy_setopt(line->curl, CURLOPT_URL, url);
    CURLcode code = curl_easy_perform(line->curl);
    if (code == CURLE_OK)
        curl_easy_getinfo(line->curl, CURLINFO_RESPONSE_CODE, &status);
    else
        snprintf(line->answer, sizeof line->answer, "%s", curl_easy_strerror(code));
    return status;
}

struct body_part {
    const unsigned char *bytes;
    size_t len, at;
};

static size_t give_part(char *out, size_t size, size_t count, void *context)
{
    struct body_part *part = context;
    size_t len = part->len - part->at < size * count ? part->len - part->at : size * count;
    memcpy(out, part->bytes + part->at, len);
    part->at += len;
    return len;
}

static bool read_have(uint64_t *out, const char *answer)
{
    const char *at = strstr(answer, "\"have_bytes\":");
    if (at)
        *out = strtoull(at + strlen("\"have_bytes\":"), NULL, 10);
    return at != NULL;
}

static long ask_have(struct connection *line, uint64_t *have)
{
    char url[4096];
    const char *server = line->sending->options->server;
    snprintf(url, sizeof url, "%.*s/api/v1/symbols/uploads/%s", (int)fetch_server_length(server), server, line->hash);
    curl_easy_setopt(line->curl, CURLOPT_HTTPGET, 1L);
    long status = perform(line, url);
    return status == 200 && !read_have(have, line->answer) ? 0 : status;
}

/* Append &key=value, unless the value is absent. */
static void add_query(struct connection *line, char *url, size_t room, const char *key, const char *value)
{
    size_t len = strlen(url);
    char *escaped = value ? curl_easy_escape(line->curl, value, 0) : NULL;
    if (escaped)
        snprintf(url + len, room - len, "&%s=%.1000s", key, escaped);
    curl_free(escaped);
}

static long put_part(struct connection *line, const char *name, const struct file_bytes *file, uint64_t at, size_t len)
{
    char url[8192], sum[2 * HASH + 1];
    uint8_t hash[HASH];
    struct body_part part = {file->bytes + at, len, 0};

    hash_blake2b(hash, HASH, part.bytes, len);
    hex_format(sum, hash, HASH);
    const char *server = line->sending->options->server;
    snprintf(url, sizeof url, "%.*s/api/v1/symbols/uploads/%s?at=%" PRIu64 "&size=%zu&sum=%s",
             (int)fetch_server_length(server), server, line->hash, at, file->len, sum);
    add_query(line, url, sizeof url, "name", name);
    add_query(line, url, sizeof url, "version", line->version);
    add_query(line, url, sizeof url, "build", line->build);
    curl_easy_setopt(line->curl, CURLOPT_UPLOAD, 1L);
    curl_easy_setopt(line->curl, CURLOPT_READFUNCTION, give_part);
    curl_easy_setopt(line->curl, CURLOPT_READDATA, &part);
    curl_easy_setopt(line->curl, CURLOPT_INFILESIZE_LARGE, (curl_off_t)len);
    return perform(line, url);
}

static void show(struct sending *sending)
{
    if (sending->options->terminal)
        say(stderr, "\r\033[K%zu of %zu files, %.1f of %.1f MB", sending->ended, sending->wanted,
            (double)sending->bytes_sent / 1e6, (double)sending->bytes_all / 1e6);
}

/* Add to the bytes at the server, and print the progress. */
static void progress(struct sending *sending, uint64_t bytes)
{
    pthread_mutex_lock(&sending->mutex);
    sending->bytes_sent += bytes;
    show(sending);
    pthread_mutex_unlock(&sending->mutex);
}

static bool is_of_the_moment(long status)
{
    return status == 0 || status == 408 || status == 425 || status == 429 || status >= 500;
}

/* Wait as long as the server asks, otherwise longer each time. */
static void wait_for(const struct connection *line, int tries)
{
    curl_off_t asked = 0;
    curl_easy_getinfo(line->curl, CURLINFO_RETRY_AFTER, &asked);
    unsigned seconds = asked > 0 ? (unsigned)asked : 1u << (tries < 5 ? tries : 5);
    sleep(seconds < WAIT_MOST_S ? seconds : WAIT_MOST_S);
}

/* Send all missing parts. The last status: 201 when the file is stored. */
static long send_parts(struct connection *line, const char *name, const struct file_bytes *file)
{
    const struct send_options *options = line->sending->options;
    uint64_t have = 0, given = 0, before = 0;
    long status = ask_have(line, &have);

    for (int tries = 0; tries < TRIES;) {
        if (is_of_the_moment(status)) {
            wait_for(line, tries++);
            status = ask_have(line, &have);
            continue;
        }
        if (status != 200 && status != 202 && !(status == 409 && read_have(&have, line->answer)))
            return status;
        if (have > given)
            progress(line->sending, have - given);
        tries = have > given ? 0 : tries + (status != 200); /* the server repeats another position */
        given = have > given ? have : given;
        uint64_t at = have < before || have > file->len ? file->len : have;
        size_t len = file->len - at < options->part_bytes ? (size_t)(file->len - at) : options->part_bytes;
        before = have;
        status = put_part(line, name, file, at, len);
        if (status == 202)
            (void)read_have(&have, line->answer);
        if (status == 201) {
            progress(line->sending, file->len - given);
            return status;
        }
    }

    return status;
}

/* `defect`: the damaged parts, or "". */
static void print_file(struct sending *sending, const struct found_file *file, const char *what, const char *defect,
                       const char *more)
{
    char hex[2 * MIRE_OBJECT_ID_MAX + 1];
    hex_format(hex, file->item.facts.id, file->item.facts.id_len);
    if (sending->options->terminal)
        fputs("\r\033[K", stderr);
    say(stdout, "%s  %s  %-6s  %s%s%s%s%s%s\n", what, hex, file->item.facts.has_dwarf ? "debug" : "symtab", file->path,
        file->item.name[0] ? ": " : "", file->item.name, defect[0] ? "; it " : "", defect, more);
    fflush(stdout);
    show(sending);
}

void symbols_read_words(char words[MIRE_SYMBOL_WHY], const struct json *json, uint32_t row, const char *name)
{
    uint32_t value = json_member(json, row, name);
    words[0] = '\0';
    if (value && json_kind(json, value) == MIRE_JSON_STRING && json_size(json, value) < MIRE_SYMBOL_WHY)
        words[json_text(words, json, value)] = '\0';
}

/* Read the row of the one file in the answer: stored, or not used. */
static void read_stored(char defect[MIRE_SYMBOL_WHY], char instead[MIRE_SYMBOL_WHY], const struct connection *line)
{
    static const struct json_limits limits = MIRE_JSON_LIMITS;
    struct json json;
    struct json_fault fault;

    defect[0] = instead[0] = '\0';
    json_init(&json);
    bool good = json_read(&json, &fault, line->answer, line->answer_len, &limits) == MIRE_JSON_OK;
    uint32_t files = good ? json_member(&json, 0, "files") : 0;
    if (files && json_kind(&json, files) == MIRE_JSON_ARRAY && json_size(&json, files)) {
        symbols_read_words(defect, &json, files + 1, "defect");
        symbols_read_words(instead, &json, files + 1, "instead");
    }
    json_fini(&json);
}

/* The end of a name, as much as a URL has room for: it tells more than the begin. */
static const char *end_of(const char *name)
{
    size_t len = strlen(name);
    name += len > NAME_MOST ? len - NAME_MOST : 0;
    while ((*name & 0xc0) == 0x80) /* no beginning of a character */
        name++;
    return name;
}

/* A mapping belongs to the given version, otherwise to that of its archive. */
static void take_version(struct connection *line, const struct found_file *file)
{
    const struct send_options *options = line->sending->options;
    bool given = options->version != NULL;
    line->version = given ? options->version : file->version.version;
    line->build = given ? options->build : file->version.build;
    if (!symbols_is_java(file) || !line->version[0])
        line->version = line->build = NULL;
}

static void send_one(struct connection *line, const struct found_file *file)
{
    struct sending *sending = line->sending;
    struct file_bytes whole, bytes;
    char why[ANSWER_BYTES + 32] = ": it cannot be read any more", defect[MIRE_SYMBOL_WHY] = "";
    char instead[MIRE_SYMBOL_WHY] = "", more[MIRE_SYMBOL_WHY + 8] = "";
    uint8_t hash[HASH];
    long status = 0;

    if (symbols_map(&whole, &bytes, file)) {
        const char *slash = strrchr(file->path, '/');
        hash_blake2b(hash, HASH, bytes.bytes, bytes.len);
        take_version(line, file);
        hex_format(line->hash, hash, HASH);
        status = send_parts(line,
                            end_of(file->item.name[0] ? file->item.name
                                   : slash            ? slash + 1
                                                      : file->path),
                            &bytes);
        if (status == 201)
            read_stored(defect, instead, line);
        snprintf(why, sizeof why, ": %ld %s", status, line->answer);
        file_bytes_unmap(&whole);
    }
    pthread_mutex_lock(&sending->mutex);
    sending->ended++;
    sending->result->stored += status == 201;
    sending->result->failed += status != 201;
    sending->result->damaged += defect[0] && !instead[0];
    if (instead[0])
        snprintf(more, sizeof more, "; %s", instead);
    print_file(sending, file,
               status != 201 ? "failed"
               : instead[0]  ? "lesser"
                             : "stored",
               instead[0] ? "" : defect, status == 201 ? more : why);
    pthread_mutex_unlock(&sending->mutex);
}

static const struct found_file *take(struct sending *sending)
{
    const struct found_file *file = NULL;
    pthread_mutex_lock(&sending->mutex);
    while (!file && sending->next < sending->found->count) {
        const struct found_file *at = &sending->found->files[sending->next++];
        file = at->missing ? at : NULL;
    }
    pthread_mutex_unlock(&sending->mutex);
    return file;
}

static void *run(void *context)
{
    struct connection line;
    if (line_open(&line, context))
        for (const struct found_file *file; (file = take(context));)
            send_one(&line, file);
    line_close(&line);
    return NULL;
}

void symbols_send_files(struct send_result *out, const struct found *found, const struct send_options *options)
{
    enum { MOST = 16 };
    pthread_t threads[MOST];
    struct sending sending = {.found = found, .options = options, .result = out};
    unsigned started = 0;

    *out = (struct send_result){0};
    for (size_t i = 0; i < found->count; i++) {
        sending.wanted += found->files[i].missing;
        sending.bytes_all += found->files[i].missing ? found->files[i].item.len : 0;
        out->known += !found->files[i].missing;
        out->damaged += !found->files[i].missing && found->files[i].defect[0];
    }

    for (size_t i = 0; i < found->count; i++)
        if (!found->files[i].missing && found->files[i].defect[0])
            print_file(&sending, &found->files[i], "there ", found->files[i].defect, "");
    pthread_mutex_init(&sending.mutex, NULL);
    while (started + 1 < options->at_once && started < MOST && started + 1 < sending.wanted &&
           pthread_create(&threads[started], NULL, run, &sending) == 0)
        started++;
    (void)run(&sending);
    for (unsigned i = 0; i < started; i++)
        pthread_join(threads[i], NULL);
    out->bytes = sending.bytes_sent;
    out->failed += sending.wanted - sending.ended; /* no connection could be made */
    if (options->terminal)
        fputs("\r\033[K", stderr);
    pthread_mutex_destroy(&sending.mutex);
}
