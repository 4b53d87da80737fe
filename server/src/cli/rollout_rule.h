/* rollout_rule.h - one rule of a rollout, for a terminal. */
#ifndef MIRE_CLI_ROLLOUT_RULE_H
#define MIRE_CLI_ROLLOUT_RULE_H

#include "rollout/rollout.h"

/* Print the installations of a rule, and a line for each of its plugins. */
void rollout_print_rule(const struct rollout_rule *rule);

#endif
