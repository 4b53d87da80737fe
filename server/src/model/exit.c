/*
 * exit.c - see exit.h.
 */
#include "model/exit.h"

#include <string.h>

#define COUNT(table) (sizeof(table) / sizeof *(table))

static const struct {
    const char *verdict, *text;
} rows[] = {
    {"clean_exit", "it ended itself"},
    {"abort", "it called abort"},
    {"crash", "it crashed"},
    {"user_quit", "its user quit it"},
    {"app_upgraded", "the app was upgraded"},
    {"os_upgraded", "the system was upgraded"},
    {"rebooted", "the machine was rebooted"},
    {"background_kill", "killed in the background"},
    {"watchdog_kill", "killed while hung"},
    {"foom", "killed: out of memory"},
    {"os_kill", "killed by the system or by somebody"},
    {"unknown", "nobody knows"},
};

const char *exit_text(const char *verdict)
{
    for (size_t i = 0; i < COUNT(rows); i++)
        if (!strcmp(rows[i].verdict, verdict))
            return rows[i].text;
    return verdict;
}

const char *exit_counted(const char *verdict)
{
    for (size_t i = 0; i < COUNT(rows); i++)
        if (!strcmp(rows[i].verdict, verdict))
            return rows[i].verdict;
    return "other";
}
