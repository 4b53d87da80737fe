/* Beside every issue: how long, when and where it happens. */

import type { JSX } from 'preact';
import type { Distribution, Issue } from '../../api/types';
import { Histogram } from '../../charts/spark';
import { Trend } from '../../charts/trend';
import { facetTitle } from '../../lib/facets';
import { lang, say } from '../../lib/i18n';
import { page, query } from '../../lib/location';
import { word } from '../../lib/words';
import { bars, completed } from '../../model/charts';
import { counted, isOfProcess } from '../../model/event';
import { count, percent } from '../../model/format';
import { carried, FACETS, href, isMemory, wantedText } from '../../model/view';
import { useColours } from '../colours';
import { StillArriving } from '../complete';
import { Exports } from '../exports';
import { Ago, Bar, Panel } from '../parts';

export function Side({ app, data }: { app: string; data: Issue }): JSX.Element {
  const colours = useColours(app);
  const { issue, range } = data;
  const { t, v } = query.value;
  const at = `apps/${app}/issues/${issue.id}`;
  const made = bars(
    data.series,
    data.bucket_s,
    new Date(range.from),
    new Date(range.to),
    'events',
    say('other versions'),
  );
  const drawn = completed(made, data.bucket_s, data.completeness);
  return (
    <>
      {isOfProcess(issue.category) ? null : (
        <Panel title={say('How long')}>
          <Histogram bins={data.durations} lang={lang.value} />
        </Panel>
      )}
      <Panel title={say('When')}>
        <Trend
          bars={drawn}
          colours={colours(drawn.rows.map((row) => row.key))}
          lang={lang.value}
          what={say(counted([issue.category]))}
          unit={(value) => count(value, lang.value)}
          whole
          height={110}
        />
        <StillArriving days={data.completeness} />
        <Exports path={at} asked={{ t, v, table: 'series' }} of={say('When')} />
        <p class="dim small">
          {say('First seen')}: <Ago at={issue.first_seen_at} />, {issue.first_version}
          <br />
          {say('Last seen')}: <Ago at={issue.last_seen_at} />, {issue.last_version}
        </p>
      </Panel>
      <Panel title={say('Where')}>
        {data.distributions
          .filter((one) => one.values.some((value) => value.key !== ''))
          .map((one) => (
            <Shares key={one.name} one={one} />
          ))}
        <Exports path={at} asked={{ t, v, table: 'distributions' }} of={say('Where')} />
      </Panel>
    </>
  );
}

/* Values beyond those that are counted apart. */
const OTHERS = '\x7f';

/* A value with the way to all issues that have it, where the list can be filtered by it. */
function Value({ name, value }: { name: string; value: string }): JSX.Element {
  const here = page.value;
  if (value === OTHERS) return <>{say('others')}</>;
  if (value === '' || here.name !== 'issue') return <>{value || '—'}</>;
  const key = name === 'version' ? 'v' : FACETS.find((one) => one === name);
  if (!key) return <>{name === 'state' ? word(value) : value}</>;
  const list = { name: isMemory(here.id) ? 'memory' : 'issues', app: here.app } as const;
  return <a href={href(list, { ...carried(query.value), q: '', [key]: [wantedText(value)] })}>{value}</a>;
}

function Shares({ one }: { one: Distribution }): JSX.Element {
  const known = one.values.some((value) => value.lift !== null);
  return (
    <table class="tight shares">
      <thead>
        <tr>
          <th scope="col">{facetTitle(one.name)}</th>
          <th scope="col">
            <span class="offscreen">{say('Bar')}</span>
          </th>
          <th scope="col" class="num">
            {say('Share')}
          </th>
          {known ? (
            <th scope="col" class="num">
              {say('vs average')}
            </th>
          ) : null}
        </tr>
      </thead>
      <tbody>
        {one.values.slice(0, 5).map((value) => (
          <tr key={value.key}>
            <th scope="row">
              <Value name={one.name} value={value.key} />
            </th>
            <td class="bar-cell">
              <Bar share={value.share} />
            </td>
            <td class="num">{percent(value.share, lang.value)}</td>
            {known ? <td class="num">{value.lift === null ? '—' : `×${value.lift.toFixed(1)}`}</td> : null}
          </tr>
        ))}
      </tbody>
    </table>
  );
}
