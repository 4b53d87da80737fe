-- How often each value stands in the reports of an issue, and in those of its app: versions, systems, processors, models,
-- processes (0 to 4), and holders of locks (5), which the issue alone is asked for.
--   $1 to $5   the view (rows/view_sql.h)    $6   the issue    $7   values of each name
WITH h AS (
    SELECT version_id, os_version, arch, model, process_name, count(*) AS n, count(*) FILTER (WHERE true{of_issue}) AS here
    FROM event
    WHERE {event_in_view}
    GROUP BY 1, 2, 3, 4, 5),
e AS (
    SELECT x.name, x.key, sum(here)::bigint AS here, sum(n)::bigint AS n,
           sum(sum(here)) OVER (PARTITION BY x.name)::bigint AS here_total,
           sum(sum(n)) OVER (PARTITION BY x.name)::bigint AS total
    FROM h JOIN version USING (version_id)
    CROSS JOIN LATERAL (VALUES (0, version), (1, os_version), (2, arch), (3, model), (4, process_name)) x (name, key)
    GROUP BY 1, 2
    UNION ALL
    SELECT 5, holder, count(*), 0, sum(count(*)) OVER ()::bigint, 0
    FROM event
    WHERE {event_in_view}{of_issue} AND holder <> ''
    GROUP BY holder),
placed AS (
    SELECT e.*, row_number() OVER (PARTITION BY name ORDER BY here DESC, key COLLATE "C") AS place FROM e WHERE here > 0)
SELECT name, key, here, here_total, n, total
FROM placed
WHERE place <= $7
ORDER BY name, place
