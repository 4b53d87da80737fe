-- 0002: which devices an issue was seen on is answered from the index alone.

DROP INDEX hang_by_issue;
CREATE INDEX hang_by_issue ON hang (app_id, issue_id, received_at) INCLUDE (install, version_id);
COMMENT ON INDEX hang_by_issue IS 'Serves: the reports of an issue, newest first, and the devices of issues without reading the rows.';
COMMENT ON INDEX hang_by_time IS 'Serves: the newest report of an app, and facets over a time range.';
