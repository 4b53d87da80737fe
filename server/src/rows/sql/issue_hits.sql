-- The reports of every issue, by its number.
--   $1   the app      $2 $3   kinds wanted, and not
--   $4 and on         the counters of the view (rows/standing_read.h)
WITH counted AS (
    SELECT issue_id, {tree} AS tree, sum(reports) AS reports
    FROM {counted}
    GROUP BY 1{by_tree})
SELECT {shown_id}, sum(reports)::bigint
FROM counted {shown_join} JOIN issue i ON i.issue_id = {shown_id}
WHERE {kind_wanted}
GROUP BY 1
ORDER BY 1
