-- What the counters of some issues say, by part of the span: a row an issue and part, in order of the issues.
--   $1   the app      $2   the issues
--   $3 and on         the counters of the view, of the issues whose reports may be shown as one of these (rows/standing_read.h)
WITH counted AS (
    SELECT issue_id, {tree} AS tree, part, sum(events) AS events, sum(reports) AS reports, sum(waited_ms) AS waited_ms,
           max(longest_ms) AS longest_ms, max(last_at) AS last_at, min(hour) AS hour, min(low) AS low, max(high) AS high,
           max(most_bytes) AS most_bytes, sum(above_bytes) AS above_bytes
    FROM {counted}
    GROUP BY 1, 3{by_tree})
SELECT {shown_id}, counted.part, sum(events), sum(reports)::bigint, sum(waited_ms), max(longest_ms), max(last_at), min(hour),
       min(low), max(high), max(most_bytes), sum(above_bytes)::float8
FROM counted {shown_join}
WHERE {shown_id} = ANY ($2::bigint[])
GROUP BY 1, 2
ORDER BY 1
