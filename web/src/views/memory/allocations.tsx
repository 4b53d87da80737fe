/* Allocations: the memory of one process by category, with the suspects, their reasons, and the stacks. */

import type { JSX } from 'preact';
import { useMemo } from 'preact/hooks';
import { api } from '../../api/client';
import type { Memory } from '../../api/types';
import { say } from '../../lib/i18n';
import { query } from '../../lib/location';
import { useQuery } from '../../lib/query';
import { answerOf, firstRow, rowsOf, suspectsOf } from '../../model/memory';
import { Exports } from '../exports';
import { Picker } from '../issue/stack';
import { Key } from '../issue/why';
import { Loaded } from '../parts';
import { answer } from './answer';
import { Against, useOther } from './held-against';
import { HeldHeader } from './held-header';
import { HeldStacks } from './held-stacks';
import { AllCategories, CategoryTable } from './held-table';

export function AllocationsTab({ app, id }: { app: string; id: string }): JSX.Element {
  const { t, v, n } = query.value;
  const result = useQuery(['memory', app, id, n, t, v], (signal) => api.memory(app, id, n, { t, v }, signal));
  return (
    <Loaded result={result} rows={18} label={say('report')}>
      {(memory) => <Body app={app} id={id} memory={memory} />}
    </Loaded>
  );
}

function Body({ app, id, memory }: { app: string; id: string; memory: Memory }): JSX.Element {
  const { c } = query.value;
  const { other, label } = useOther(app, id, memory);
  const rows = useMemo(() => rowsOf(memory, other), [memory, other]);
  const suspects = useMemo(() => suspectsOf(rows), [rows]);
  const chosen = firstRow(memory, rows, c);
  const told = useMemo(() => answerOf(memory, rowsOf(memory, null)), [memory]);
  const unreadable = memory.facts.find((fact) => fact.name === 'Stacks');
  return (
    <>
      <Picker report={memory} worst={say('Largest')} />
      <HeldHeader memory={memory} first={told ? answer(told) : ''} />
      {unreadable && memory.categories.length === 0 ? <p class="notice warn">{unreadable.value}</p> : null}
      <Against app={app} id={id} memory={memory} />
      <div class="allocations">
        <div class="held">
          <section aria-label={say('Suspect categories')}>
            <h2>{say('Suspect categories')}</h2>
            {suspects.length > 0 ? (
              <CategoryTable
                rows={suspects}
                chosen={chosen?.key ?? ''}
                label={label}
                caption={say('Suspect categories, largest excess over the healthy median first')}
                why
              />
            ) : (
              <p class="dim">{say('No category is suspect.')}</p>
            )}
          </section>
          <AllCategories rows={rows} chosen={chosen?.key ?? ''} label={label} />
          <Exports
            path={`apps/${app}/issues/${id}/reports/${memory.row.id}/memory`}
            asked={{ t: query.value.t, v: query.value.v }}
            of={say('All categories')}
          />
        </div>
        {chosen ? <HeldStacks app={app} id={id} key={chosen.key} memory={memory} row={chosen} /> : null}
      </div>
      {memory.key.length === 0 ? null : (
        <details class="why">
          <summary>{say('Why it is grouped here')}</summary>
          <Key report={memory} />
        </details>
      )}
    </>
  );
}
