-- A page of the groups that match a view, each with its issues, and the totals of all that match.
--   $1          the app; $2 to $6 are not used
--   $7 $8       kinds wanted, and not          $9 $10   states wanted, and not      $11  words
--   $12 $13     rank and key of the last group seen; null: from the beginning       $14  groups of a page
--   $15 $16     devices by issue               $17 $18  devices by group
--   $19 $20     issues that changed, and their ranks: the larger the change for the worse, the higher
--   $21 to $25  issues and sums of the wanted facets, if some are wanted (rows/faceted.h)
--   then the counters of the view (rows/standing_read.h)
WITH counted AS (
    SELECT issue_id, {tree} AS tree, sum(reports) AS reports, sum(events) AS events, sum(waited_ms) AS waited_ms,
           max(longest_ms) AS longest_ms, max(last_at) AS last_at, min(hour) AS first_hour, max(most_bytes) AS most_bytes,
           sum(above_bytes) AS above_bytes
    FROM {counted}
    GROUP BY 1{by_tree}),
shown AS (
    SELECT {shown_id} AS issue_id, sum(reports)::bigint AS reports, sum(events) AS events, sum(waited_ms) AS waited_ms,
           max(longest_ms) AS longest_ms, max(last_at) AS last_at, min(first_hour) AS first_hour, max(most_bytes) AS most_bytes,
           sum(above_bytes) AS above_bytes
    FROM counted {shown_join}
    GROUP BY 1),
wanted AS (
    {wanted}),
changed AS (
    SELECT * FROM unnest($19::bigint[], $20::bigint[]) u (issue_id, change)),
named AS (
    SELECT wanted.*, i.caller1, i.caller2, {title} AS title, {image} AS image, {scene} AS scene, {key} AS key, {state} AS state,
           coalesce(changed.change, 0) AS change
    FROM wanted JOIN issue i USING (issue_id) LEFT JOIN changed USING (issue_id) {wholes}
    WHERE i.app_id = $1 AND {kind_wanted} AND {has_words}),
m AS MATERIALIZED (
    SELECT * FROM named WHERE {state_wanted}),
issue_devices AS (
    SELECT * FROM unnest($15::bigint[], $16::bigint[]) u (issue_id, devices)),
group_devices AS (
    SELECT * FROM unnest($17::text[], $18::bigint[]) u (key, devices)),
grouped AS (
    SELECT key, min(title) AS title, min(image) AS image, min(scene) AS scene, sum(reports)::bigint AS reports, sum(events) AS events,
           sum(waited_ms) AS waited_ms, max(longest_ms) AS longest_ms, max(last_at) AS last_at, max(most_bytes) AS most_bytes,
           sum(above_bytes) AS above_bytes, max(change) AS change
    FROM m
    GROUP BY key),
ranked AS (
    SELECT g.*, {group_rank} AS rank FROM grouped g LEFT JOIN group_devices d USING (key)),
page AS (
    SELECT * FROM ranked
    WHERE $12::text IS NULL OR rank {beyond} $12::text::{rank_type} OR (rank = $12::text::{rank_type} AND key > $13)
    ORDER BY rank {direction}, key
    LIMIT $14),
member AS (
    SELECT m.key AS of_group, m.issue_id, {issue_rank} AS issue_rank
    FROM m LEFT JOIN issue_devices d USING (issue_id)
    CROSS JOIN LATERAL (SELECT m.title, m.events, m.waited_ms, m.longest_ms, m.last_at, m.most_bytes, m.above_bytes, m.change) g
    WHERE m.key IN (SELECT key FROM page)),
total AS (
    SELECT (SELECT count(*) FROM grouped) AS groups, count(*) AS issues, coalesce(sum(reports), 0)::bigint AS reports,
           coalesce(sum(events), 0)::float8 AS events, coalesce(sum(waited_ms), 0)::float8 AS waited_ms,
           coalesce(max(longest_ms), 0)::bigint AS longest_ms, max(last_at) AS last_at, min(first_hour) AS first_hour
    FROM m),
by_state AS (
    SELECT count(*) FILTER (WHERE state = 'open') AS open, count(*) FILTER (WHERE state = 'regressed') AS regressed,
           count(*) FILTER (WHERE state = 'resolved') AS resolved, count(*) FILTER (WHERE state = 'ignored') AS ignored
    FROM named)
SELECT total.groups, total.issues, total.reports, total.events, total.waited_ms, total.longest_ms, total.last_at, total.first_hour,
       page.key, page.title, page.image, page.reports, page.events::float8, page.waited_ms::float8, page.longest_ms, page.last_at,
       page.rank::text, member.issue_id, page.most_bytes, page.scene, page.above_bytes::float8, by_state.*
FROM total CROSS JOIN by_state LEFT JOIN (page JOIN member ON member.of_group = page.key) ON true
ORDER BY page.rank {direction}, page.key, member.issue_rank {direction}, member.issue_id
