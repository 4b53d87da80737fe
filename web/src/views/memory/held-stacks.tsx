/* The stacks that allocated one category's live blocks, each with the function to blame. */

import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import type { Memory } from '../../api/types';
import { gap, lang, say } from '../../lib/i18n';
import { useKeys } from '../../lib/keys';
import { patch, query } from '../../lib/location';
import { bytes, exact, offBytes, offCount, percent } from '../../model/format';
import { type Row, type ShownStack, stacksOf } from '../../model/memory';
import { base } from '../../model/name';
import { asText } from '../../model/stack';
import { CallerTag } from '../issue/caller-tag';
import { Bar, copy, WeighedBy } from '../parts';
import { FramePlace } from '../place';
import { aboutPart, kindOfCategory } from './held-table';

/* Stacks shown at first; the device sends the largest ones. */
const SHOWN = 12;

interface StacksProps {
  app: string;
  id: string;
  memory: Memory;
  row: Row;
}

export function HeldStacks({ app, memory, row }: StacksProps): JSX.Element {
  const { of } = query.value;
  const [all, setAll] = useState(false);
  const stacks = stacksOf(memory, row.at, of);
  const shown = all ? stacks : stacks.slice(0, SHOWN);
  useKeys({ path: () => stacks[0] && void copy(asText(stacks[0].frames), say('Stack copied')) });
  return (
    <section class="held-stacks" aria-label={say('Stacks of {what}', { what: row.category.name })}>
      <header>
        <h2>{row.category.name}</h2>
        <span class="dim">{kindOfCategory(row.category)}</span>
        <span class="grow" />
        {stacks.length > 0 ? <WeighedBy /> : null}
      </header>
      {stacks.length === 0 ? <NoStacks row={row} /> : null}
      <ol>
        {shown.map((stack, i) => (
          <OneStack
            key={stack.stack.node}
            app={app}
            version={memory.row.version}
            shown={stack}
            first={i === 0}
            of={of}
            mapped={row.category.kind === 'vm'}
          />
        ))}
      </ol>
      {stacks.length > shown.length ? (
        <button type="button" onClick={() => setAll(true)}>
          {say('{n} more', { n: stacks.length - shown.length })}
        </button>
      ) : null}
      {stacks.length > 0 ? (
        <p class="row">
          <button type="button" onClick={() => patch({ tab: 'flame', c: row.key, fz: '' }, true)}>
            {say('Its flame graph, over all reports')}
          </button>
          <Sent row={row} sent={stacks.length} />
        </p>
      ) : null}
    </section>
  );
}

function Sent({ row, sent }: { row: Row; sent: number }): JSX.Element | null {
  const known = row.category.stack_count;
  return known === null || known <= sent ? null : (
    <span class="dim">
      {say('{n} of the {total} stacks that the device knows', { n: sent, total: exact(known, lang.value) })}
    </span>
  );
}

function NoStacks({ row }: { row: Row }): JSX.Element {
  const { stack_count: known, of_allocator, kind } = row.category;
  if (kind === 'part') return <p class="dim">{aboutPart(row.category)}</p>;
  if (kind === 'gauge')
    return <p class="dim">{say('The app measures it. Other rows contain its bytes too, so no sum includes it.')}</p>;
  if (of_allocator) return <p class="dim">{say('Its blocks have the stacks: see the rows of the heap.')}</p>;
  return (
    <p class="dim">
      {say('No stacks: below the top categories, whose stacks the device sends.')}
      {gap()}
      {known ? say('The device knows {n|stack|stacks} of it.', { n: exact(known, lang.value) }) : null}
    </p>
  );
}

interface StackProps {
  app: string;
  version: string;
  shown: ShownStack;
  first: boolean;
  of: 'bytes' | 'objects';
  /** Its bytes are addresses: the part in memory is known for the whole category only. */
  mapped: boolean;
}

function OneStack({ app, version, shown, first, of, mapped }: StackProps): JSX.Element {
  const [open, setOpen] = useState(first);
  const { stack, frames, caller1, share } = shown;
  const blamed = caller1 === null ? null : (frames[caller1] ?? null);
  const grown = stack.grown_bytes ?? 0;
  const size = mapped ? say('{bytes} of addresses', { bytes: bytes(stack.bytes) }) : bytes(stack.bytes);
  const off =
    of === 'bytes' ? offBytes(stack.bytes, stack.error_bytes) : offCount(stack.count, stack.error_count, lang.value);
  return (
    <li>
      <details open={open} onToggle={(event) => setOpen(event.currentTarget.open)}>
        <summary>
          <span class="num">{percent(share, lang.value)}</span> <Bar share={share} kind="r-app" />{' '}
          <span class="num">{of === 'bytes' ? size : exact(stack.count, lang.value)}</span>{' '}
          {off ? <span class="dim small">{off} </span> : null}
          <span class="fn">{blamed ? blamed.function : say('an unknown stack')}</span>{' '}
          {blamed ? <CallerTag name="Caller1" /> : null}
          {grown > 0 ? <span class="rose"> +{bytes(grown)}</span> : null}
        </summary>
        {open ? (
          <ol class="plain-stack">
            {frames.map((frame, i) => (
              <li key={i} class={frame.role === 'app' ? '' : 'dim'}>
                <span class="fn">{frame.function}</span> {i === caller1 ? <CallerTag name="Caller1" /> : null}{' '}
                <span class="image">{base(frame.image)}</span> <FramePlace app={app} version={version} frame={frame} />
              </li>
            ))}
          </ol>
        ) : null}
      </details>
    </li>
  );
}
