-- The reports of every issue, by its number.
--   $1 to $6   the view (rows/view_sql.h)      $7 $8   kinds wanted, and not
WITH counted AS (
    SELECT issue_id, {tree} AS tree, sum(reports) AS reports
    FROM issue_hour
    WHERE {hour_in_view}
    GROUP BY 1{by_tree})
SELECT {shown_id}, sum(reports)::bigint
FROM counted {shown_join} JOIN issue i ON i.issue_id = {shown_id}
WHERE {kind_wanted}
GROUP BY 1
ORDER BY 1
