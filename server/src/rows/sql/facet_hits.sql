-- The hits of events by facet, for the newest events of an issue, or of the app: there issues that are not asked for are issue 0.
--   $1 to $5   the view (rows/view_sql.h)      $6 $7   kinds wanted, and not
--   $8   the issues, as they are shown         $9      the issues whose reports may be shown as one of these
--   $10  most events                           {tags...}  nothing, or the tags that the app keeps
WITH newest AS (
    SELECT issue_id, tree, install, occurred_at, weight, version_id, os, os_version, model, device_class, channel, country{tags_read}
    FROM event
    WHERE {event_in_view}{of_issue}
    ORDER BY occurred_at DESC
    LIMIT $10),
found AS (
    SELECT issue_id, {tree} AS tree, install, (occurred_at AT TIME ZONE 'UTC')::date AS on_day, max(weight) AS weight, count(*) AS reports,
           max(version_id) AS version_id, max(os) AS os, max(concat_ws(' ', nullif(os, ''), nullif(os_version, ''))) AS system,
           max(model) AS model, max(device_class) AS device_class, max(channel) AS channel,
           max(country) AS country{tags_of_events}
    FROM newest
    GROUP BY issue_id, install, on_day{by_tree}),
hit AS (
    SELECT {shown_id} AS issue_id, install, on_day, max(weight)::float8 AS weight, sum(reports) AS reports, max(version_id) AS version_id,
           max(os) AS os, max(system) AS system, max(model) AS model, max(device_class) AS device_class, max(channel) AS channel,
           max(country) AS country{tags}
    FROM found {shown_join}
    GROUP BY 1, 2, 3),
device AS (
    SELECT CASE WHEN issue_id = ANY ($8) THEN issue_id ELSE 0 END AS named, sum(weight) AS hits, sum(reports) AS reports,
           max(version_id) AS version_id, max(os) AS os, max(system) AS system, max(model) AS model, max(device_class) AS device_class,
           max(channel) AS channel, max(country) AS country{tags}
    FROM hit JOIN issue i USING (issue_id)
    WHERE {kind_wanted}
    GROUP BY issue_id, install)
SELECT named, GROUPING(v.version, os, system, model, device_class, channel, country{tag_names}),
       coalesce(v.version, os, system, model, device_class, channel, country{tag_names}, ''),
       sum(hits)::float8, sum(hits * hits)::float8, sum(reports)::bigint
FROM device LEFT JOIN version v USING (version_id)
WHERE {named_wanted}
GROUP BY GROUPING SETS ((named, v.version), (named, os), (named, system), (named, model), (named, device_class), (named, channel), (named, country){tag_sets})
