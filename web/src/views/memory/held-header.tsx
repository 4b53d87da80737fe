/* The line above the categories: the footprint and its limit, the explained part, and its history. */

import type { ComponentChildren, JSX } from 'preact';
import type { Memory } from '../../api/types';
import { Footprint } from '../../charts/footprint';
import { lang, say } from '../../lib/i18n';
import { duration } from '../../lib/units';
import { bytes, exact, offBytes, offCount, percent } from '../../model/format';
import { explained, mappingsOf } from '../../model/memory';
import { Bar } from '../parts';

const TRIGGERS: Record<string, string> = {
  foom: 'Killed: out of memory.',
  demand: 'The app asked for it.',
  pressure: 'Memory was low.',
  footprint: 'The process grew beyond its threshold.',
  test: 'A test.',
};

/* The sources of the footprint that are worth a word. */
const SOURCES: Record<string, string> = {
  look: 'as of the last look before the end',
  tables: 'counted from the recorded allocations: the process grew after the last look',
  exit: 'its largest resident set, as the kernel reported at the end: the process grew after the last look',
};

export function HeldHeader({ memory, first }: { memory: Memory; first: string }): JSX.Element {
  const trigger = TRIGGERS[memory.trigger];
  return (
    <div class="held-header">
      {first === '' ? null : <p class="said">{first}</p>}
      <p class="verdict">
        <strong>{trigger ? say(trigger) : memory.trigger}</strong>{' '}
        {memory.name ? <span class="tag">{memory.name}</span> : null}
        {memory.foreground === null ? null : (
          <span class="dim">{memory.foreground ? say('in the foreground') : say('in the background')}</span>
        )}
      </p>
      <div class="held-facts">
        <dl>
          <Limit memory={memory} />
          <Explained memory={memory} />
          <Fact name={say('Blocks')}>
            {say('{bytes} in {n} blocks and objects', {
              bytes: estimate(bytes(memory.live_bytes), offBytes(memory.live_bytes, memory.error_bytes)),
              n: estimate(
                exact(memory.live_count, lang.value),
                offCount(memory.live_count, memory.error_count, lang.value),
              ),
            })}
          </Fact>
          <Mappings memory={memory} />
          <Verdict exit={memory.exit} />
          <Measured memory={memory} />
        </dl>
        {memory.trail.length > 1 ? <Footprint trail={memory.trail} limit={memory.limit_bytes} /> : null}
      </div>
    </div>
  );
}

function estimate(value: string, off: string): string {
  return off ? `${value} ${off}` : value;
}

function Fact({ name, children }: { name: string; children: ComponentChildren }): JSX.Element {
  return (
    <div>
      <dt>{name}</dt>
      <dd>{children}</dd>
    </div>
  );
}

function Limit({ memory }: { memory: Memory }): JSX.Element | null {
  const { footprint_bytes: footprint, footprint_from: from, limit_bytes: limit, healthy } = memory;
  if (footprint === null) return null;
  const usual = healthy?.footprint_bytes ?? 0;
  return (
    <Fact name={say('Footprint')}>
      <span class="big">{bytes(footprint)}</span>
      {limit ? (
        <>
          {' '}
          {say('of {limit}', { limit: bytes(limit) })} <Bar share={footprint / limit} kind="r-app" />
        </>
      ) : null}
      {usual > 0 ? (
        <span class="dim"> {say('×{n} the healthy median', { n: (footprint / usual).toFixed(1) })}</span>
      ) : null}
      {from && SOURCES[from] ? <span class="dim"> {say(SOURCES[from])}</span> : null}
    </Fact>
  );
}

/* Explained so much, the rest is not mentioned. */
const MOSTLY = 0.9;

function Explained({ memory }: { memory: Memory }): JSX.Element | null {
  const share = explained(memory);
  return share === null ? null : (
    <Fact name={say('Explained')}>
      {percent(share, lang.value)} <Bar share={share} />
      <span class="dim"> {bytes(memory.explained_bytes ?? 0)}</span>
      {memory.trigger === 'foom' && share < MOSTLY ? (
        <span class="dim">
          {' · '}
          {say('mappings as last examined: pages filled between then and the kill are missing')}
        </span>
      ) : null}
    </Fact>
  );
}

/* Mappings besides the blocks, and those that contain the blocks. */
function Mappings({ memory }: { memory: Memory }): JSX.Element {
  const { ofAllocators, others } = mappingsOf(memory);
  return (
    <Fact name={say('Mappings')}>
      {bytes(others)}
      {ofAllocators > 0 ? (
        <span class="dim"> {say('besides the {bytes} that hold blocks', { bytes: bytes(ofAllocators) })}</span>
      ) : null}
    </Fact>
  );
}

/* Why the process ended, and how sure that is: each sign for and against can be looked at. */
function Verdict({ exit }: { exit: Memory['exit'] }): JSX.Element | null {
  if (!exit) return null;
  const lists = [
    [say('for it'), exit.for],
    [say('against it'), exit.against],
    [say('excluded'), exit.excluded],
  ] as const;
  return (
    <Fact name={say('Verdict')}>
      <details>
        <summary>
          <strong>{exit.verdict === 'foom' ? say('out of memory') : exit.verdict}</strong>{' '}
          {say('{share} sure, {n} of 7 exclusions hold', {
            share: percent(exit.confidence_ppm / 1e6, lang.value),
            n: exit.excluded.length,
          })}
        </summary>
        <ul class="signs">
          {lists.map(([name, signs]) =>
            signs.length > 0 ? (
              <li key={name}>
                <span class="dim">{name}:</span> {signs.join(', ')}
              </li>
            ) : null,
          )}
        </ul>
      </details>
    </Fact>
  );
}

/* Counts or estimates, and the losses of the monitor. */
function Measured({ memory }: { memory: Memory }): JSX.Element {
  const { interval_bytes, grown_ms, degraded_times } = memory;
  const told = [
    memory.mode === 'exact'
      ? say('every allocation counted')
      : say('estimated, one sample every {bytes}; ±: 95 % interval', {
          bytes: bytes(interval_bytes ?? 0),
        }),
    grown_ms === null ? '' : say('growth of the last {time}', { time: duration(grown_ms) }),
    degraded_times > 0 ? say('detail given up {n|time|times} to stay within the budget', { n: degraded_times }) : '',
  ].filter((text) => text !== '');
  return <Fact name={say('Measured')}>{told.join(' · ')}</Fact>;
}
