/* loop_sdl.c - SDL_WaitEventTimeout without a window, which waits in nanosleep: marked by hand. */
#include "planted.h"

#include <SDL2/SDL.h>

static Uint32 push(Uint32 interval, void *unused)
{
    SDL_Event event = {.type = SDL_USEREVENT};

    (void)interval, (void)unused;
    SDL_PushEvent(&event);
    return 0;
}

static int wait_for_event(SDL_Event *event)
{
    int got;

    mire_loop_leave();
    got = SDL_WaitEvent(event);
    mire_loop_enter();
    return got;
}

int main(int argc, char **argv)
{
    SDL_Event event;

    (void)argc;
    SDL_SetHint(SDL_HINT_VIDEODRIVER, "dummy");
    if (SDL_Init(SDL_INIT_TIMER | SDL_INIT_VIDEO) != 0)
        return 3;
    planted_start(argv);
    SDL_AddTimer(IDLE_MS, push, NULL);
    wait_for_event(&event);
    planted_hang();
    SDL_AddTimer(REST_MS, push, NULL);
    wait_for_event(&event);
    SDL_Quit();
    return 0;
}
