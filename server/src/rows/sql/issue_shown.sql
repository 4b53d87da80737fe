-- Rebuilds the rows of issue_shown of an app from its aliases; the old ones are deleted before.
-- An alias of an issue whose reports moved on (issue.gone_to) holds for the issue they moved to; of several such the newest.
-- Merging makes no circle, moving may close one: then all in it are shown as its oldest.
-- WITH is of the SELECT: Citus takes the RECURSIVE from one of an INSERT.
--   $1   the app
INSERT INTO issue_shown (app_id, issue_id, tree, shown_id)
WITH RECURSIVE moved AS (
    SELECT issue_id, gone_to AS at, 1 AS depth FROM issue WHERE app_id = $1 AND gone_to IS NOT NULL
    UNION ALL
    SELECT m.issue_id, i.gone_to, depth + 1
    FROM moved m JOIN issue i ON i.issue_id = m.at
    WHERE i.gone_to IS NOT NULL AND depth < 100),
now AS (
    SELECT DISTINCT ON (issue_id) issue_id, at FROM moved ORDER BY issue_id, depth DESC),
edge AS (
    SELECT DISTINCT ON (issue_id, tree) issue_id, tree, into_id
    FROM (SELECT k.issue_id, tree, coalesce(t.at, a.into_id) AS into_id, alias_id
          FROM issue_alias a
          CROSS JOIN LATERAL (SELECT a.issue_id UNION SELECT at FROM now WHERE now.issue_id = a.issue_id) k
          LEFT JOIN now t ON t.issue_id = a.into_id
          WHERE app_id = $1 AND undone_at IS NULL) e
    WHERE issue_id <> into_id
    ORDER BY issue_id, tree, alias_id DESC),
walk AS (
    SELECT issue_id, tree, into_id AS at, ARRAY[into_id] AS path FROM edge
    UNION ALL
    SELECT w.issue_id, w.tree, e.into_id, path || e.into_id
    FROM walk w JOIN edge e ON e.issue_id = w.at AND e.tree = 0
    WHERE e.into_id <> ALL (path)),
ends AS (
    SELECT DISTINCT ON (issue_id, tree) w.issue_id, w.tree,
           CASE WHEN e.into_id IS NULL THEN at
                ELSE (SELECT min(p) FROM unnest(path[array_position(path, e.into_id):]) p) END AS at
    FROM walk w LEFT JOIN edge e ON e.issue_id = w.at AND e.tree = 0
    ORDER BY issue_id, tree, cardinality(path) DESC)
SELECT $1, issue_id, tree, at FROM ends
UNION
SELECT $1, at, 0, at FROM ends
UNION
SELECT $1, issue_id, 0, issue_id
FROM ends e
WHERE tree <> 0 AND NOT EXISTS (SELECT FROM ends w WHERE w.issue_id = e.issue_id AND w.tree = 0)
