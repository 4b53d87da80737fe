-- Sessions and their ends: all, then by version, and by version and day, of the versions with most sessions.
-- Days are summed up first: a Citus coordinator plans grouping sets of such sums only.
--   $1 to $6   the view (rows/view_sql.h)
--   $7 $8      channels wanted, and not    $9   versions at most
WITH by_day AS MATERIALIZED (
    SELECT version, day, sum(records) AS records, sum(sessions) AS sessions, sum(sessions_sq) AS sessions_sq,
           sum(time_ms) AS time_ms, sum(sdk_cpu_us) AS sdk_cpu_us, sum(watched) AS watched, sum(watched_sq) AS watched_sq,
           sum(watched_ms) AS watched_ms, sum(lagging) AS lagging, sum(hangs) AS hangs, sum(hang_ms) AS hang_ms,
           sum(hang_hang_sq) AS hang_hang_sq, sum(hang_time_sq) AS hang_time_sq, sum(time_time_sq) AS time_time_sq
    FROM session_day JOIN version USING (version_id, app_id)
    WHERE {day_in_view} AND {channel_wanted}
    GROUP BY 1, 2),
ends_by_day AS MATERIALIZED (
    SELECT version, day, sum(ends) AS ends, sum(ends_sq) AS ends_sq, sum(ends) FILTER (WHERE verdict = 'foom') AS foom,
           sum(ends) FILTER (WHERE verdict = 'watchdog_kill') AS watchdog,
           sum(ends) FILTER (WHERE verdict IN ('crash', 'abort')) AS crash
    FROM session_end_day JOIN version USING (version_id, app_id)
    WHERE {day_in_view} AND {channel_wanted}
    GROUP BY 1, 2),
d AS (
    SELECT version, day, sum(records)::bigint AS records, sum(sessions) AS sessions, sum(sessions_sq) AS sessions_sq,
           sum(time_ms) AS time_ms, sum(sdk_cpu_us) AS sdk_cpu_us, sum(watched) AS watched, sum(watched_sq) AS watched_sq,
           sum(watched_ms) AS watched_ms, sum(lagging) AS lagging, sum(hangs) AS hangs, sum(hang_ms) AS hang_ms,
           sum(hang_hang_sq) AS hang_hang_sq, sum(hang_time_sq) AS hang_time_sq, sum(time_time_sq) AS time_time_sq
    FROM by_day
    GROUP BY GROUPING SETS ((), (version), (version, day))),
e AS (
    SELECT version, day, sum(ends) AS ends, sum(ends_sq) AS ends_sq, sum(foom) AS foom, sum(watchdog) AS watchdog, sum(crash) AS crash
    FROM ends_by_day
    GROUP BY GROUPING SETS ((), (version), (version, day))),
top AS (
    SELECT version FROM d WHERE version IS NOT NULL AND day IS NULL ORDER BY sessions DESC, version COLLATE "C" LIMIT $9)
SELECT coalesce(d.version, ''), d.day IS NOT NULL, coalesce(d.day, '1970-01-01'),
       coalesce(records, 0), coalesce(sessions, 0), coalesce(sessions_sq, 0), coalesce(time_ms, 0), coalesce(sdk_cpu_us, 0),
       coalesce(watched, 0), coalesce(watched_sq, 0), coalesce(watched_ms, 0), coalesce(lagging, 0), coalesce(hangs, 0),
       coalesce(hang_ms, 0), coalesce(hang_hang_sq, 0), coalesce(hang_time_sq, 0), coalesce(time_time_sq, 0),
       coalesce(ends, 0), coalesce(ends_sq, 0), coalesce(foom, 0), coalesce(watchdog, 0), coalesce(crash, 0)
FROM d LEFT JOIN e ON e.version IS NOT DISTINCT FROM d.version AND e.day IS NOT DISTINCT FROM d.day
WHERE d.version IS NULL OR d.version IN (SELECT version FROM top)
ORDER BY d.version IS NOT NULL, d.version COLLATE "C", d.day NULLS FIRST
