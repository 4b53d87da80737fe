/* handlers.h - every handler of the route table; one file a resource. All are http_handler with a struct api. */
#ifndef MIRE_API_HANDLERS_H
#define MIRE_API_HANDLERS_H

#include "http/http.h"

int get_apps(void *api, struct request *request, struct reply *reply);           /* overview.c */
int get_overview(void *api, struct request *request, struct reply *reply);       /* overview.c */
int get_facets(void *api, struct request *request, struct reply *reply);         /* overview.c */
int get_issues(void *api, struct request *request, struct reply *reply);         /* issues.c */
int get_issue(void *api, struct request *request, struct reply *reply);          /* issue.c */
int get_reports(void *api, struct request *request, struct reply *reply);        /* reports.c */
int get_report(void *api, struct request *request, struct reply *reply);         /* report.c */
int get_flame(void *api, struct request *request, struct reply *reply);          /* flames.c */
int get_memory(void *api, struct request *request, struct reply *reply);         /* memory.c */
int get_issue_memory(void *api, struct request *request, struct reply *reply);   /* populations.c */
int get_healthy(void *api, struct request *request, struct reply *reply);        /* populations.c */
int get_rules(void *api, struct request *request, struct reply *reply);          /* rules.c */
int get_rules_job(void *api, struct request *request, struct reply *reply);      /* rules.c */
int put_rules(void *api, struct request *request, struct reply *reply);          /* put_rules.c */
int post_rules_back(void *api, struct request *request, struct reply *reply);    /* put_rules.c */
int post_rules_preview(void *api, struct request *request, struct reply *reply); /* put_rules.c */
int get_issue_link(void *api, struct request *request, struct reply *reply);     /* links.c */
int get_report_link(void *api, struct request *request, struct reply *reply);    /* links.c */
int get_no_such_call(void *api, struct request *request, struct reply *reply);   /* routes.c */
int get_asset(void *api, struct request *request, struct reply *reply);          /* pages.c */
int get_page(void *api, struct request *request, struct reply *reply);           /* pages.c */
int get_rates(void *api, struct request *request, struct reply *reply);          /* rates.c */
int get_rollout(void *api, struct request *request, struct reply *reply);        /* get_rollout.c */
int get_app_rollout(void *api, struct request *request, struct reply *reply);    /* rollout.c */
int put_ramp(void *api, struct request *request, struct reply *reply);           /* put_ramp.c */
int post_ramp(void *api, struct request *request, struct reply *reply);          /* put_ramp.c */
int put_rollout(void *api, struct request *request, struct reply *reply);        /* put_rollout.c */
int post_rollout_back(void *api, struct request *request, struct reply *reply);  /* put_rollout.c */
int put_symbols(void *api, struct request *request, struct reply *reply);        /* put_symbols.c */
int get_similar(void *api, struct request *request, struct reply *reply);        /* similar.c */
int get_provenance(void *api, struct request *request, struct reply *reply);     /* provenance.c */
int post_merge(void *api, struct request *request, struct reply *reply);         /* regroup.c */
int post_split(void *api, struct request *request, struct reply *reply);         /* regroup.c */
int post_unmerge(void *api, struct request *request, struct reply *reply);       /* regroup.c */
int post_missing(void *api, struct request *request, struct reply *reply);       /* put_symbols.c */
int get_upload(void *api, struct request *request, struct reply *reply);         /* put_symbols.c */
int put_upload(void *api, struct request *request, struct reply *reply);         /* put_symbols.c */
int get_symbols(void *api, struct request *request, struct reply *reply);        /* symbols.c */
int get_rekey(void *api, struct request *request, struct reply *reply);          /* rekey.c */
int post_rekey(void *api, struct request *request, struct reply *reply);         /* rekey.c */

#endif
