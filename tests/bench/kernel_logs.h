/*
 * kernel_logs.h - the kernel's pack of rules, judged by logs of which somebody else says who is guilty.
 *
 * A log is asked about if it is whole and its type is HANG or LEAK. Its family is the function that its title names.
 * Logs with one title and the same stacks are one.
 *
 *     caller1_of_kernel               share of these logs whose Caller1 is the function of the title (TITLE, or ALT:
 *                                     the same before syzkaller shortened it)
 *     skipped_of_kernel               how many have a Caller1 in a class that is passed over
 *     kernel_caller1_leave_one_out    the share, where each family is judged by the rules that other families use
 *     ... by hangs and leaks alone    the same, where of these only logs of hangs and leaks count
 *     kernel_caller1_newest_third     the share in the newest third, judged by the rules that all older logs use
 *
 * A log of any type uses a rule if that decides what a frame of its stacks is. A rule with alternatives would hide
 * which of them is used, so that the pack may have none.
 */
#ifndef MIRE_BENCH_KERNEL_LOGS_H
#define MIRE_BENCH_KERNEL_LOGS_H

#include "feature/rules.h"

#include <stdbool.h>

/*
 * Judge and print.
 *
 *   rules   the built-in ones, of which the kernel's pack is taken
 *   folder  of logs, in the form of klog.h; numbers as names tell their age
 *   given   the folder is the one that the rules were written with: goals are asked of its figures
 *
 * False: a goal is missed.
 */
bool kernel_logs_measure(const struct rules *rules, const char *folder, bool given);

#endif
