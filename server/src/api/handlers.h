/* handlers.h - every handler of the route table, by resource. All are http_handler with a struct api. */
#ifndef MIRE_API_HANDLERS_H
#define MIRE_API_HANDLERS_H

#include "http/http.h"

/* apps/ */
int get_apps(void *api, struct request *request, struct reply *reply);
int post_app(void *api, struct request *request, struct reply *reply);
int post_demo(void *api, struct request *request, struct reply *reply);
int delete_demo(void *api, struct request *request, struct reply *reply);
int get_live(void *api, struct request *request, struct reply *reply);
int get_start(void *api, struct request *request, struct reply *reply);
int get_app_settings(void *api, struct request *request, struct reply *reply);
int put_app_settings(void *api, struct request *request, struct reply *reply);
int get_overview(void *api, struct request *request, struct reply *reply);
int get_changes(void *api, struct request *request, struct reply *reply);
int get_versions(void *api, struct request *request, struct reply *reply);
int get_facets(void *api, struct request *request, struct reply *reply);
int get_rates(void *api, struct request *request, struct reply *reply);
int get_metrics_apps(void *api, struct request *request, struct reply *reply);

/* issues/ */
int get_issues(void *api, struct request *request, struct reply *reply);
int get_issue(void *api, struct request *request, struct reply *reply);
int get_suspects(void *api, struct request *request, struct reply *reply);
int get_similar(void *api, struct request *request, struct reply *reply);
int get_provenance(void *api, struct request *request, struct reply *reply);
int post_triage(void *api, struct request *request, struct reply *reply);
int post_triage_undo(void *api, struct request *request, struct reply *reply);
int get_assignees(void *api, struct request *request, struct reply *reply);
int get_activity(void *api, struct request *request, struct reply *reply);
int post_comment(void *api, struct request *request, struct reply *reply);
int delete_comment(void *api, struct request *request, struct reply *reply);
int post_merge(void *api, struct request *request, struct reply *reply);
int post_split(void *api, struct request *request, struct reply *reply);
int post_unmerge(void *api, struct request *request, struct reply *reply);

/* releases/ */
int get_releases(void *api, struct request *request, struct reply *reply);
int post_release(void *api, struct request *request, struct reply *reply);
int post_release_commits(void *api, struct request *request, struct reply *reply);

/* reports/ */
int get_reports(void *api, struct request *request, struct reply *reply);
int get_app_reports(void *api, struct request *request, struct reply *reply);
int get_report(void *api, struct request *request, struct reply *reply);
int get_forget(void *api, struct request *request, struct reply *reply);
int post_forget(void *api, struct request *request, struct reply *reply);

/* flame/ */
int get_flame(void *api, struct request *request, struct reply *reply);

/* memory/ */
int get_memory(void *api, struct request *request, struct reply *reply);
int get_issue_memory(void *api, struct request *request, struct reply *reply);
int get_healthy(void *api, struct request *request, struct reply *reply);

/* rules/ */
int get_rules(void *api, struct request *request, struct reply *reply);
int get_rules_job(void *api, struct request *request, struct reply *reply);
int put_rules(void *api, struct request *request, struct reply *reply);
int post_rules_back(void *api, struct request *request, struct reply *reply);
int post_rules_preview(void *api, struct request *request, struct reply *reply);

/* rollout/ */
int get_rollout(void *api, struct request *request, struct reply *reply);
int get_app_rollout(void *api, struct request *request, struct reply *reply);
int get_rollout_device(void *api, struct request *request, struct reply *reply);
int put_rollout(void *api, struct request *request, struct reply *reply);
int post_rollout_back(void *api, struct request *request, struct reply *reply);
int put_ramp(void *api, struct request *request, struct reply *reply);
int post_ramp(void *api, struct request *request, struct reply *reply);

/* symbols/ */
int put_symbols(void *api, struct request *request, struct reply *reply);
int post_missing(void *api, struct request *request, struct reply *reply);
int get_upload(void *api, struct request *request, struct reply *reply);
int put_upload(void *api, struct request *request, struct reply *reply);
int get_symbols(void *api, struct request *request, struct reply *reply);
int get_rekey(void *api, struct request *request, struct reply *reply);
int post_rekey(void *api, struct request *request, struct reply *reply);

/* people/ */
int get_sign_in(void *api, struct request *request, struct reply *reply);
int post_sign_in(void *api, struct request *request, struct reply *reply);
int delete_sign_in(void *api, struct request *request, struct reply *reply);
int post_welcome(void *api, struct request *request, struct reply *reply);
int put_password(void *api, struct request *request, struct reply *reply);
int get_oidc_start(void *api, struct request *request, struct reply *reply);
int get_oidc_callback(void *api, struct request *request, struct reply *reply);
int get_sign_ins(void *api, struct request *request, struct reply *reply);
int delete_sign_ins(void *api, struct request *request, struct reply *reply);
int delete_one_sign_in(void *api, struct request *request, struct reply *reply);
int post_code(void *api, struct request *request, struct reply *reply);
int get_tokens(void *api, struct request *request, struct reply *reply);
int post_token(void *api, struct request *request, struct reply *reply);
int delete_token(void *api, struct request *request, struct reply *reply);
int get_accounts(void *api, struct request *request, struct reply *reply);
int post_account(void *api, struct request *request, struct reply *reply);
int put_account(void *api, struct request *request, struct reply *reply);
int post_account_link(void *api, struct request *request, struct reply *reply);
int get_server(void *api, struct request *request, struct reply *reply);
int get_server_health(void *api, struct request *request, struct reply *reply);
int get_audit(void *api, struct request *request, struct reply *reply);
int get_app_audit(void *api, struct request *request, struct reply *reply);
int get_members(void *api, struct request *request, struct reply *reply);
int put_member(void *api, struct request *request, struct reply *reply);
int get_keys(void *api, struct request *request, struct reply *reply);
int post_key(void *api, struct request *request, struct reply *reply);
int post_key_rotate(void *api, struct request *request, struct reply *reply);
int delete_key(void *api, struct request *request, struct reply *reply);

/* alerts/ */
int get_alerts(void *api, struct request *request, struct reply *reply);
int get_alert_history(void *api, struct request *request, struct reply *reply);
int post_alert_rule(void *api, struct request *request, struct reply *reply);
int put_alert_rule(void *api, struct request *request, struct reply *reply);
int delete_alert_rule(void *api, struct request *request, struct reply *reply);
int post_alert_snooze(void *api, struct request *request, struct reply *reply);
int post_alert_replay(void *api, struct request *request, struct reply *reply);
int post_alert_channel(void *api, struct request *request, struct reply *reply);
int delete_alert_channel(void *api, struct request *request, struct reply *reply);
int post_alert_channel_test(void *api, struct request *request, struct reply *reply);
int post_alert_ack(void *api, struct request *request, struct reply *reply);
int post_ticket(void *api, struct request *request, struct reply *reply);
int get_tracker(void *api, struct request *request, struct reply *reply);
int put_tracker(void *api, struct request *request, struct reply *reply);
int delete_tracker(void *api, struct request *request, struct reply *reply);
int post_tracker_call(void *api, struct request *request, struct reply *reply);

int post_ack(void *api, struct request *request, struct reply *reply);

/* links.c, pages.c, routes.c */
int get_issue_link(void *api, struct request *request, struct reply *reply);
int get_report_link(void *api, struct request *request, struct reply *reply);
int get_asset(void *api, struct request *request, struct reply *reply);
int get_docs(void *api, struct request *request, struct reply *reply);
int get_page(void *api, struct request *request, struct reply *reply);
int get_no_such_call(void *api, struct request *request, struct reply *reply);

#endif
