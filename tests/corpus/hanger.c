/*
 * hanger.c - reads the plan and takes its steps. See hanger.h.
 */
#include "hanger.h"

#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static const char *const causes[CAUSE_COUNT] = {"cpu",    "file",  "sleep", "mutex", "condvar",
                                                "pagein", "mixed", "stop",  "kill"};
static const char *const places[PLACE_COUNT] = {"middle", "leaf", "idle", "busy", "hang"};
static const char *const phases[PHASE_COUNT] = {"launch", "running", "background"};

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
    sdk_set_foreground(steps[next_step].phase != PHASE_BACKGROUND);
    truth_step(next_step);
    hang(&steps[next_step]);
    truth_step(next_step);
    next_step++;
}

static bool launching;

/* Every third turn has a step: stops and reports of the step before end meanwhile. */
static unsigned turn;

static int next_scene(void)
{
    return next_step < step_count || turn % 3 != 2 ? next_step % PLANTED_COUNT : -1;
}

void take_turn(void)
{
    if (launching || (++turn % 3 == 0 && next_step < step_count))
        take_one();
    if (!launching)
        loop_again();
}

#define SCENE(n)                             \
    STAY int planted_scene_##n(void *unused) \
    {                                        \
        (void)unused;                        \
        take_turn();                         \
        KEEP_FRAME();                        \
        return 0;                            \
    }
#define DECLARE(n) scene_fn planted_scene_##n;
EACH_PLANTED(DECLARE)
EACH_PLANTED(SCENE)

scene_fn *const scenes[PLANTED_COUNT] = {planted_scene_0, planted_scene_1, planted_scene_2, planted_scene_3,
                                         planted_scene_4, planted_scene_5, planted_scene_6, planted_scene_7};

static void launch(void)
{
    launching = true;
    scenes[0](NULL);
    launching = false;
}

struct job {
    const char *loop, *who;
    int done; /* write end of a pipe */
    bool failed;
};

static void *run_elsewhere(void *argument)
{
    struct job *job = argument;

    pthread_setname_np(pthread_self(), THREAD_NAME);
    job->failed = (strcmp(job->who, "call") == 0 && !sdk_watch()) || !loop_run(job->loop, next_scene);
    close(job->done);
    return NULL;
}

/* Run the loop on a thread of its own, while the main thread waits idly. */
static bool run_on_thread(struct job *job)
{
    struct pollfd end = {.events = POLLIN};
    pthread_t thread;
    int ends[2];

    if (pipe2(ends, O_CLOEXEC) != 0)
        return false;
    end.fd = ends[0];
    job->done = ends[1];
    if (pthread_create(&thread, NULL, run_elsewhere, job) != 0)
        return false;
    while (poll(&end, 1, -1) < 0)
        ;
    return pthread_join(thread, NULL) == 0 && !job->failed;
}

static bool run(char *where)
{
    struct job job = {.loop = strsep(&where, "@"), .who = where};

    return job.who ? run_on_thread(&job) : loop_run(job.loop, next_scene);
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
    if (!sdk_start())
        return 4;
    if (steps[0].phase == PHASE_LAUNCH)
        launch();
    if (!run(argv[1]))
        return 5;
    churn_stop();
    causes_close();
    return truth_write() ? 0 : 6;
}
