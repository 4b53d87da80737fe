/*
 * symbols_send.h - asks a mired which debug files it misses, and sends them in parts, several at a time.
 *
 *     ask for what it has of the file --> send the next part, with its hash --> ... --> the last one: it is stored
 *
 * An answer that is lost, a server that starts anew, a connection that breaks: it is asked again how much it has, and
 * gone on from there, also by the next run of the program. One that has less than before may have stored the file: an
 * empty part asks what came of it.
 */
#ifndef MIRE_CLI_SYMBOLS_SEND_H
#define MIRE_CLI_SYMBOLS_SEND_H

#include "cli/symbols_find.h"
#include "json/json.h"

struct send_options {
    const char *server;
    const char *key;
    unsigned at_once;    /* files, 1.. */
    size_t part_bytes;   /* a multiple of 1 MiB */
    const char *version; /* mappings of Java names are sent as this version's; NULL: by their own id */
    const char *build;   /* and build's; NULL: it has none */
    bool terminal;       /* show how far it is in one line that is written over */
};

struct send_result {
    size_t stored, failed, known;
    size_t damaged; /* of those stored and known: what can be read of them is used */
    uint64_t bytes; /* that went over the line, of files */
};

/* What a row of an answer says for people: what is damaged (defect), what is used in its place (instead); "" if
 * nothing.
 */
void symbols_read_words(char words[MIRE_SYMBOL_WHY], const struct json *json, uint32_t row, const char *name);

/* Set `missing` of each file, and `defect`. 0; -1: the server did not say, which is told on stderr. */
int symbols_ask_missing(struct found *found, const struct send_options *options);

/* Send those that are missing; a line a file on stdout, and one for each that is there and damaged. */
void symbols_send_files(struct send_result *out, const struct found *found, const struct send_options *options);

#endif
