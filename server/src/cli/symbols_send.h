/*
 * symbols_send.h - asks a mired for the missing debug files, and sends them in parts, several files at a time.
 *
 *     ask for what it has of the file --> send the next part, with its hash --> ... --> the last one: it is stored
 *
 * After a lost answer, a restart of the server or a broken connection the sender asks for the received bytes and
 * continues from there; the next run of the program does so too. A server that has fewer bytes than before may have
 * stored the file: an empty part asks for the result.
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
    const char *version; /* mappings of Java names are sent for this version; NULL: by their own id */
    const char *build;   /* and for this build; NULL: none */
    bool terminal;       /* print the progress on one line */
};

struct send_result {
    size_t stored, failed, known;
    size_t damaged; /* of the stored and known files; their readable parts are used */
    uint64_t bytes; /* sent bytes of files */
};

/* The words of an answer's row for people: damaged parts (defect), the file in use in its place (instead); "" if
 * absent. */
void symbols_read_words(char words[MIRE_SYMBOL_WHY], const struct json *json, uint32_t row, const char *name);

/* Set `missing` and `defect` of each file. 0; -1: no answer; the error is on stderr. */
int symbols_ask_missing(struct found *found, const struct send_options *options);

/* Send the missing files; prints a line a file on stdout, and one for each damaged file of the server. */
void symbols_send_files(struct send_result *out, const struct found *found, const struct send_options *options);

#endif
