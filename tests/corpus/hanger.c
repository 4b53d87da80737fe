/*
 * hanger.c - reads the plan and takes its steps. See hanger.h.
 */
#include "hanger.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#ifdef WITH_MIRE
#include "mire/mire.h"

/* 0, which is refused, if it is not set. */
static uint32_t number(const char *name)
{
    const char *text = getenv(name);

    return text ? (uint32_t)strtoul(text, NULL, 10) : 0;
}

static bool start_mire(void)
{
    mire_options *options = mire_options_new();
    bool started;

    truth_begin();
    started = !mire_options_set_app(options, "hanger", "1") && !mire_options_set_store(options, getenv("MIRE_STORE")) &&
              !mire_options_set_threshold_ms(options, number("MIRE_THRESHOLD_MS")) &&
              !mire_options_set_period_ms(options, number("MIRE_PERIOD_MS")) &&
              !mire_options_set_number(options, "anneal_ms", 0) &&
              !mire_options_set_number(options, "daily_cap", 1000) && !mire_start(options);

    mire_options_free(options);
    return started;
}
#else
static bool start_mire(void)
{
    return true; /* mire-run has */
}
#endif

static const char *const causes[CAUSE_COUNT] = {"cpu",    "file",  "sleep", "mutex", "condvar",
                                                "pagein", "mixed", "stop",  "kill"};
static const char *const places[PLACE_COUNT] = {"middle", "leaf", "idle", "busy", "hang"};
static const char *const phases[PHASE_COUNT] = {"launch", "running"};

static struct step steps[STEPS_MAX];
static int step_count, next_step;

static int find(const char *const *names, int count, const char *name)
{
    for (int i = 0; i < count; i++)
        if (strcmp(names[i], name) == 0)
            return i;
    return -1;
}

static bool parse_step(struct step *out, const char *text)
{
    char cause[16], place[16], phase[16];
    int which[3];

    if (sscanf(text, "%15[a-z]/%15[a-z]/%u/%u/%15[a-z]", cause, place, &out->number, &out->length_ms, phase) != 5)
        return false;
    which[0] = find(causes, CAUSE_COUNT, cause);
    which[1] = find(places, PLACE_COUNT, place);
    which[2] = find(phases, PHASE_COUNT, phase);
    out->cause = (enum cause)which[0];
    out->place = (enum place)which[1];
    out->phase = (enum phase)which[2];
    return which[0] >= 0 && which[1] >= 0 && which[2] >= 0 && out->number < PLANTED_COUNT;
}

static bool parse_plan(char *plan)
{
    char *text;

    while ((text = strsep(&plan, ","))) {
        if (step_count == STEPS_MAX || !parse_step(&steps[step_count++], text))
            return false;
    }
    return step_count > 0;
}

static void take_one(void)
{
    truth_step(next_step);
    hang(&steps[next_step]);
    truth_step(next_step);
    next_step++;
}

/* Every third turn has a step: stops and reports of the step before come to their end meanwhile. */
static bool take_next(void)
{
    static unsigned turn;

    if (++turn % 3 == 0 && next_step < step_count)
        take_one();
    return next_step < step_count || turn % 3 != 2;
}

int main(int argc, char **argv)
{
    truth_begin(); /* of a launch under mire-run */
    if (argc != 6 || !parse_plan(argv[3])) {
        fprintf(stderr, "usage: hanger LOOP CHURN PLAN TRUTH DATA (see hanger.h)\n");
        return 2;
    }
    truth_file(argv[4]);
    if (!causes_open(argv[5]) || !churn_start(argv[2])) {
        perror("hanger");
        return 3;
    }
    if (!start_mire())
        return 4;
    if (steps[0].phase == PHASE_LAUNCH)
        take_one();
    if (!loop_run(argv[1], take_next))
        return 5;
    churn_stop();
    causes_close();
    return truth_write() ? 0 : 6;
}
