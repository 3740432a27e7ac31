/**
 * The table of states and events, run through cell by cell, and held equal to the one in the
 * specification.
 */
import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import type { CorrectableEvent, Sink } from '../../../src/index.ts';
import { correctable } from '../../../src/index.ts';
import { virtualClock } from '../../../src/testing/virtual-clock.ts';
import type { Three } from './support.ts';
import { LEVELS, settled } from './support.ts';

type State = 'pending, no view' | 'pending, at weak' | 'pending, at causal' | 'final' | 'error';
type Outcome =
  | 'view'
  | 'final'
  | 'note'
  | 'drop'
  | 'nothing'
  | 'INVALID_VALUE'
  | 'PROTOCOL'
  | 'FINAL_FAILED'
  | 'CLOSED_WITHOUT_FINAL'
  | 'TIMEOUT'
  | 'ABORTED';

/** One Correctable and every way to act on it. */
interface Subject {
  readonly sink: Sink<unknown, string>;
  readonly end: () => void;
  readonly pass: () => Promise<void>;
  readonly cancel: () => void;
}

const EVENTS = {
  'view at weak': ({ sink }) => sink.view('new', 'weak'),
  'view at weak, refining source': ({ sink }) => sink.view('new', 'weak'),
  'view at causal': ({ sink }) => sink.view('new', 'causal'),
  'view at causal, older version': ({ sink }) => sink.view('new', 'causal', { version: 1 }),
  'view at strong': ({ sink }) => sink.view('new', 'strong'),
  'view at strong, older version': ({ sink }) => sink.view('new', 'strong', { version: 1 }),
  'view at causal, marked as final': ({ sink }) => sink.view('new', 'causal', { final: true }),
  'view at an unknown level': ({ sink }) => sink.view('new', 'eventual'),
  'view with a promise as value': ({ sink }) => sink.view(Promise.resolve(1), 'weak'),
  'confirm a known view at causal': ({ sink }) => sink.confirm('causal', 0),
  'confirm a known view at strong': ({ sink }) => sink.confirm('strong', 0),
  'confirm an unknown view': ({ sink }) => sink.confirm('strong', 99),
  'fail at weak': ({ sink }) => sink.fail(new Error('x'), 'weak'),
  'fail at strong': ({ sink }) => sink.fail(new Error('x'), 'strong'),
  'fail as a whole': ({ sink }) => sink.fail(new Error('x')),
  'fail at an unknown level': ({ sink }) => sink.fail(new Error('x'), 'eventual'),
  'the work ends': ({ end }) => end(),
  'the deadline passes': ({ pass }) => pass(),
  cancel: ({ cancel }) => cancel(),
} as const satisfies Record<string, (subject: Subject) => unknown>;

type Event = keyof typeof EVENTS;

const closed = (outcome: 'drop' | 'nothing'): Record<'final' | 'error', Outcome> => ({
  final: outcome,
  error: outcome,
});

const row = (
  none: Outcome,
  weak: Outcome,
  causal: Outcome,
  after: 'drop' | 'nothing',
): Record<State, Outcome> => ({
  'pending, no view': none,
  'pending, at weak': weak,
  'pending, at causal': causal,
  ...closed(after),
});

const TABLE: Record<Event, Record<State, Outcome>> = {
  'view at weak': row('view', 'drop', 'drop', 'drop'),
  'view at weak, refining source': row('view', 'view', 'drop', 'drop'),
  'view at causal': row('view', 'view', 'drop', 'drop'),
  'view at causal, older version': row('view', 'drop', 'drop', 'drop'),
  'view at strong': row('final', 'final', 'final', 'drop'),
  'view at strong, older version': row('final', 'final', 'final', 'drop'),
  'view at causal, marked as final': row('final', 'final', 'final', 'drop'),
  'view at an unknown level': row('drop', 'drop', 'drop', 'drop'),
  'view with a promise as value': row('INVALID_VALUE', 'INVALID_VALUE', 'INVALID_VALUE', 'drop'),
  'confirm a known view at causal': row('PROTOCOL', 'view', 'drop', 'drop'),
  'confirm a known view at strong': row('PROTOCOL', 'final', 'final', 'drop'),
  'confirm an unknown view': row('PROTOCOL', 'PROTOCOL', 'PROTOCOL', 'drop'),
  'fail at weak': row('note', 'note', 'note', 'drop'),
  'fail at strong': row('FINAL_FAILED', 'FINAL_FAILED', 'FINAL_FAILED', 'drop'),
  'fail as a whole': row('FINAL_FAILED', 'FINAL_FAILED', 'FINAL_FAILED', 'drop'),
  'fail at an unknown level': row('drop', 'drop', 'drop', 'drop'),
  'the work ends': row(
    'CLOSED_WITHOUT_FINAL',
    'CLOSED_WITHOUT_FINAL',
    'CLOSED_WITHOUT_FINAL',
    'nothing',
  ),
  'the deadline passes': row('TIMEOUT', 'TIMEOUT', 'TIMEOUT', 'nothing'),
  cancel: row('ABORTED', 'ABORTED', 'ABORTED', 'nothing'),
};

const REACH: Record<State, (sink: Sink<unknown, string>) => void> = {
  'pending, no view': () => {},
  'pending, at weak': (sink) => void sink.view('weak', 'weak', { version: 2 }),
  'pending, at causal': (sink) => void sink.view('causal', 'causal', { version: 2 }),
  final: (sink) => void sink.view('strong', 'strong'),
  error: (sink) => sink.fail(new Error('earlier')),
};

async function outcomeOf(state: State, event: Event): Promise<Outcome> {
  const clock = virtualClock();
  const reported: Outcome[] = [];
  let sink!: Sink<unknown, string>;
  let end!: () => void;
  const c = correctable<unknown, Three>(
    LEVELS,
    (value) => {
      sink = value as Sink<unknown, string>;
      return new Promise<void>((resolve) => (end = resolve));
    },
    {
      clock,
      timeoutMs: 10,
      isRefining: event.endsWith('refining source'),
      onEvent: (happened: CorrectableEvent) =>
        reported.push(happened.type === 'drop' ? 'drop' : 'nothing'),
    },
  );
  REACH[state](sink);
  c.setCallbacks({ onError: () => 0 });
  await settled();
  c.subscribe({
    next: (view) => reported.push(view.final ? 'final' : 'view'),
    error: ({ code }) => reported.push(code as Outcome),
  });
  await settled();
  reported.length = 0;
  await EVENTS[event]({ sink, end, pass: () => clock.advance(10), cancel: () => c.cancel() });
  await settled();
  if (reported.length > 0) return reported.join() as Outcome;
  if (!event.startsWith('fail')) return 'nothing';
  sink.fail(new Error('last'));
  const error = (await c.catch((reason: unknown) => reason)) as { readonly levelErrors?: object };
  return Object.keys(error.levelErrors ?? {}).length > 0 ? 'note' : 'nothing';
}

for (const event of Object.keys(TABLE) as Event[]) {
  test(`C1–C13: ${event} → matches the table in every state`, async () => {
    const found: Partial<Record<State, Outcome>> = {};
    for (const state of Object.keys(REACH) as State[]) found[state] = await outcomeOf(state, event);
    expect(found).toEqual(TABLE[event]);
  });
}

test('the table of the specification → the same as here', () => {
  const text = readFileSync(new URL('../../../docs/spec/correctable.md', import.meta.url), 'utf8');
  const rows = text
    .split('| the operation is')[0]!
    .split('\n')
    .filter((line) => line.startsWith('| '))
    .map((line) =>
      line
        .split('|')
        .slice(1, -1)
        .map((cell) => cell.trim()),
    );
  const [, ...states] = rows[0]!;
  const written = Object.fromEntries(
    rows
      .slice(1)
      .map(([event, ...cells]) => [
        event,
        Object.fromEntries(cells.map((cell, at) => [states[at], cell])),
      ]),
  );
  expect(written).toEqual(TABLE);
});
