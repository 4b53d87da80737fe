-- The versions of an app: when each was first seen, its reports, and the issues that began, were resolved, or came back in it.
--   $1 to $6   the view (rows/view_sql.h)      $7 $8   kinds wanted, and not
--   $9 and on  the counters of the view (rows/standing_read.h)
WITH counted AS (
    SELECT version_id, sum(reports)::bigint AS reports, sum(events) AS events
    FROM {counted}
    WHERE {category_wanted}
    GROUP BY 1),
used AS (
    SELECT DISTINCT version_id FROM session_day WHERE {session_day_in_view}),
shown AS (
    SELECT i.first_version_id, i.state, i.is_regressed, i.state_version
    FROM issue i
    WHERE i.app_id = $1 AND i.gone_to IS NULL AND {category_wanted} AND NOT EXISTS (
        SELECT FROM issue_shown s WHERE s.app_id = $1 AND s.issue_id = i.issue_id AND s.tree = 0 AND s.shown_id <> i.issue_id)),
opened AS (
    SELECT first_version_id AS version_id, count(*) AS issues FROM shown GROUP BY 1),
stated AS (
    SELECT state_version AS version, count(*) FILTER (WHERE state = 'resolved') AS resolved,
           count(*) FILTER (WHERE is_regressed) AS regressed
    FROM shown WHERE state_version <> '' GROUP BY 1)
SELECT v.version, min(v.first_seen), coalesce(sum(c.reports), 0)::bigint, coalesce(sum(c.events), 0)::float8,
       coalesce(sum(o.issues), 0)::bigint, coalesce(max(s.resolved), 0)::bigint, coalesce(max(s.regressed), 0)::bigint
FROM version v LEFT JOIN counted c USING (version_id) LEFT JOIN used u USING (version_id) LEFT JOIN opened o USING (version_id) LEFT JOIN stated s ON s.version = v.version
WHERE v.app_id = $1 AND (NOT v.archived OR c.reports > 0 OR u.version_id IS NOT NULL) AND {in_versions}
GROUP BY 1
