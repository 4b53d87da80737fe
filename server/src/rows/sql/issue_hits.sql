-- The hits of every issue: days on which a device had it. A device's reports of a day are one hit, however many.
--   $1 to $5   the view (rows/view_sql.h)      $6 $7   kinds wanted, and not
WITH found AS (
    SELECT issue_id, {tree} AS tree, install, (occurred_at AT TIME ZONE 'UTC')::date AS on_day, max(weight) AS weight,
           count(*) AS reports, sum(weight * (1 + suppressed)) AS events, sum(weight * (waited_ms + suppressed_ms)) AS waited_ms
    FROM event
    WHERE {event_in_view}
    GROUP BY issue_id, install, on_day{by_tree}),
hit AS (
    SELECT {shown_id} AS issue_id, install, on_day, max(weight)::float8 AS weight, sum(reports) AS reports, sum(events) AS events,
           sum(found.waited_ms) AS waited_ms
    FROM found {shown_join}
    GROUP BY 1, 2, 3),
device AS (
    SELECT issue_id, install, sum(weight) AS hits, sum(reports) AS reports, sum(events) AS events, sum(waited_ms) AS waited_ms
    FROM hit
    GROUP BY 1, 2)
SELECT d.issue_id, sum(reports)::bigint, count(*), sum(hits)::float8, sum(hits * hits)::float8, sum(events)::float8, sum(waited_ms)::float8
FROM device d JOIN issue i USING (issue_id)
WHERE {kind_wanted}
GROUP BY 1
ORDER BY 1
