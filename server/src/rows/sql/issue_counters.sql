-- What the counters of some issues say, by part of the span: a row an issue and part, in order of the issues.
--   $1 to $6   the view (rows/view_sql.h)
--   $7         the issues                 $8 $9    beginning and length of the span, seconds
--   $10 $11    versions and their ranks   $12      the issues whose reports may be shown as one of these
WITH counted AS (
    SELECT issue_id, {tree} AS tree, {part} AS part, sum(events) AS events, sum(reports) AS reports, sum(waited_ms) AS waited_ms,
           max(longest_ms) AS longest_ms, max(last_at) AS last_at, min(hour) AS hour, min(rank) AS low, max(rank) AS high,
           max(most_bytes) AS most_bytes
    FROM issue_hour JOIN unnest($10::bigint[], $11::integer[]) u (version_id, rank) USING (version_id)
    WHERE {hour_in_view} AND issue_id = ANY ($12::bigint[])
    GROUP BY 1, 3{by_tree})
SELECT {shown_id}, counted.part, sum(events), sum(reports)::bigint, sum(waited_ms), max(longest_ms), max(last_at), min(hour),
       min(low), max(high), max(most_bytes)
FROM counted {shown_join}
WHERE {shown_id} = ANY ($7::bigint[])
GROUP BY 1, 2
ORDER BY 1
