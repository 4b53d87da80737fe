-- 0021: issues that differ in nothing but the scene are found by the rest of their key.

ALTER TABLE issue ADD COLUMN blame_key bytea;
CREATE INDEX issue_by_blame ON issue (app_id, blame_key, issue_id) WHERE blame_key IS NOT NULL;
COMMENT ON COLUMN issue.blame_key IS 'The key without the scene; null where the scene was named by somebody, of memory, and of issues opened before this was kept.';
COMMENT ON INDEX issue_by_blame IS 'Serves: the scenes of one Caller1, kind and reason, whenever an issue is opened.';
