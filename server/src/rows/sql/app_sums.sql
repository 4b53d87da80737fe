-- All that an app's counters say about a view: the whole, by kind, by version, and by version and bucket of time.
--   $1   the app     $2 $3   kinds wanted, and not       $4   length of a bucket, seconds
--   $5 and on        the counters of the view, by bucket (rows/standing_read.h)
WITH bucketed AS MATERIALIZED (
    SELECT version_id, category, {bucket} AS at, sum(reports)::bigint AS reports, sum(events) AS events,
           sum(waited_ms) AS waited_ms, max(longest_ms) AS longest_ms, min(hour) AS first_hour
    FROM {counted}
    WHERE {kind_wanted}
    GROUP BY 1, 2, 3),
named AS (
    SELECT version_id, version, min(first_seen) OVER (PARTITION BY version) AS first_seen FROM version WHERE app_id = $1)
SELECT grouping(category, version, at), category, version, at, coalesce(sum(reports), 0)::bigint, coalesce(sum(events), 0),
       coalesce(sum(waited_ms), 0), coalesce(max(longest_ms), 0)::bigint, min(first_hour), min(first_seen)
FROM bucketed JOIN named USING (version_id)
GROUP BY GROUPING SETS ((), (category), (version), (version, at))
ORDER BY 1 DESC, version COLLATE "C", at
