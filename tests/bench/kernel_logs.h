/*
 * kernel_logs.h - judges the kernel's rule pack by logs for which syzkaller names the guilty function.
 *
 * A log is judged if it is complete and its type is HANG or LEAK. Its family is the function in its title. Logs with
 * one title and the same stacks count once.
 *
 *     caller1_of_kernel               share of these logs whose Caller1 is the function of the title (TITLE, or ALT:
 *                                     the same before syzkaller shortened it)
 *     skipped_of_kernel               number of logs whose Caller1 is of a class that is skipped
 *     kernel_caller1_leave_one_out    the share, with each family judged by the rules that other families use
 *     ... by hangs and leaks alone    the same, where only logs of hangs and leaks count among the others
 *     kernel_caller1_newest_third     the share in the newest third, judged by the rules that all older logs use
 *
 * A log of any type uses a rule if the rule decides the class of a frame in its stacks. A rule with alternatives would
 * hide which alternative is used, so the pack may have none.
 */
#ifndef MIRE_BENCH_KERNEL_LOGS_H
#define MIRE_BENCH_KERNEL_LOGS_H

#include "feature/rules.h"

#include <stdbool.h>

/*
 * Judge and print.
 *
 *   rules   the built-in rules, including the kernel's pack
 *   folder  logs in the form of klog.h; their names are numbers, increasing with age
 *   given   true: the rules were written with this folder, so its figures have goals
 *
 * Returns false if a goal is missed.
 */
bool kernel_logs_measure(const struct rules *rules, const char *folder, bool given);

#endif
