/* The server's findings about itself, in the reader's language. An unknown one is shown unchanged. */
import { say } from '../../lib/i18n';

export const FINDINGS: readonly string[] = [
  /* areas */
  'configuration',
  'reached from',
  'public_url',
  'data_dir',
  'disk',
  'descriptors',
  'database',
  'clock',
  'statements',
  'dead rows of the inbox',
  'partitions',
  'retention',
  'reports of days without a partition',
  'inbox',
  'dead letters',
  'debug files that reports miss',
  'flood',
  'keys',
  'keys that expire within two weeks',
  /* states */
  '{n} settings are wrong',
  'this machine alone',
  'other machines',
  'other machines, without TLS',
  'fits listen',
  'none; browsers that use a name get 421',
  '{dir}: {why}',
  '{mb} MiB are free below {dir}',
  'can be written',
  'cannot be written by this user',
  '{wanted} wanted, the hard limit is {limit}',
  'PostgreSQL {version}, {mb} MiB',
  '{s} s between this machine and the database',
  'the longest has run for {s} s',
  '{n}',
  'made for {n} days from today on',
  '{days} days are due for deletion, with about {reports} reports',
  '{waiting} reports wait, the oldest for {s} s; {failed} failed before',
  '{n}, {day} of the last day',
  '{n} ({reports} reports in the last day)',
  '{apps} apps, {keys} valid ingest keys',
  'no report was refused today',
  '{app}: {often} reports refused today by the rate limit, {beyond} beyond the budget; most come with the key {key}',
  /* next steps */
  'mired check names them',
  'set tls_cert and tls_key, or put a proxy in front and name it in trusted_proxies',
  'set public_url to the address that browsers use',
  'make the directory, or set data_dir; it must belong to the user who runs mired',
  'free some space, lower retention_days and cache_max_mb, or move data_dir',
  'run mired doctor as the user who runs mired',
  'raise the hard limit (LimitNOFILE=) or lower connections_max',
  'mired needs PostgreSQL 14 or later',
  "run a time service on both machines: retention follows the database's clock",
  'pg_stat_activity lists them; pg_cancel_backend ends one',
  'let autovacuum run; a transaction that stays open prevents it',
  'is a mired serve or http running? Its log has partition.* lines',
  "one day is deleted an hour; if that is too many, raise retention_days, or correct the database's clock",
  'the clocks of the devices are wrong, or partitions were created late',
  'is a mired serve or work running? If so raise `workers`, and look for work.failed in its log',
  'work.gave_up in the log gives the reason; the table dead_letter holds them',
  'mire symbols upload; the Symbols page lists them',
  'if the key was stolen, mire key rotate; if the app grew, raise its budget in Settings, or app_requests_s',
  'mire key create APP',
  'mire key list APP shows them; mire key rotate replaces one',
];

const known = new Set(FINDINGS);

export function findingText(text: string, values: Record<string, string | number> = {}): string {
  return known.has(text)
    ? say(text, values)
    : text.replace(/\{(\w+)\}/g, (whole, name: string) => String(values[name] ?? whole));
}
