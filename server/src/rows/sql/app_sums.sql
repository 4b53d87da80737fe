-- All that an app's counters say about a view: the whole, by kind, by version, and by version and bucket of time.
-- Slots are summed before hours are put into buckets, so the hour of a counter is computed once and not sixty-four times.
--   $1 to $6   the view (rows/view_sql.h)
--   $7 $8      kinds wanted, and not       $9   length of a bucket, seconds
WITH counted AS (
    SELECT version_id, category, hour, sum(reports) AS reports, sum(events) AS events, sum(waited_ms) AS waited_ms,
           max(longest_ms) AS longest_ms
    FROM version_hour
    WHERE {hour_in_view} AND {kind_wanted}
    GROUP BY 1, 2, 3),
bucketed AS MATERIALIZED (
    SELECT version_id, category, {bucket} AS at, sum(reports)::bigint AS reports, sum(events) AS events,
           sum(waited_ms) AS waited_ms, max(longest_ms) AS longest_ms, min(hour) AS first_hour
    FROM counted
    GROUP BY 1, 2, 3),
named AS (
    SELECT version_id, version, min(first_seen) OVER (PARTITION BY version) AS first_seen FROM version WHERE app_id = $1)
SELECT grouping(category, version, at), category, version, at, coalesce(sum(reports), 0)::bigint, coalesce(sum(events), 0),
       coalesce(sum(waited_ms), 0), coalesce(max(longest_ms), 0)::bigint, min(first_hour), min(first_seen)
FROM bucketed JOIN named USING (version_id)
GROUP BY GROUPING SETS ((), (category), (version), (version, at))
ORDER BY 1 DESC, version COLLATE "C", at
