/* rollout_rule.h - one rule of a rollout, for a terminal. */
#ifndef MIRE_CLI_ROLLOUT_RULE_H
#define MIRE_CLI_ROLLOUT_RULE_H

#include "rollout/rollout.h"

/* Print the installations of a rule, a line for each of its plugins, and what reports leave out. */
void rollout_print_rule(const struct rollout_rule *rule);

#endif
