-- The devices of every issue that matches a view: the sketches of its cells, one after the other.
--   $1 $6      app and slots of the view (rows/view_sql.h)
--   $7 $8      kinds wanted, and not      $9 $10   states wanted, and not     $11  words
--   $12        the issues                 $13      the issues whose reports may be shown as one of these
--   $14 to $17 the span                   $18 to $22  what waits in deltas
-- Trees are told apart only where some were split off.
WITH r AS (
    {rollups}
    SELECT issue_id, tree, {sketch} AS sketch, oldest_at, newest_at
    FROM unnest($18::bigint[], $19::integer[], $20::bytea[], $21::timestamptz[], $22::timestamptz[])
         u (issue_id, tree, {sketch_column}, oldest_at, newest_at)
    WHERE true{of_keys}),
h AS (
    SELECT issue_id, {tree} AS tree, string_agg(sketch, '') AS sketches, min(oldest_at) AS oldest, max(newest_at) AS newest
    FROM r
    GROUP BY 1{by_tree}),
c AS (
    SELECT {shown_id} AS issue_id, string_agg(sketches, '') AS sketches, min(oldest) AS oldest, max(newest) AS newest
    FROM h {shown_join}
    GROUP BY 1)
SELECT c.issue_id, c.sketches, c.oldest, c.newest, {key}
FROM c JOIN issue i USING (issue_id) {wholes}
WHERE {kind_wanted} AND {state_wanted} AND {has_words}{of_issues}
