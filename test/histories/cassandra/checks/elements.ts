/**
 * Lists that only grow, and counters: an append that succeeded is there once, one that failed as
 * not made is not there, and one of unknown outcome is there at most once.
 */
import type { Call } from '../../history.ts';
import { getReportedOutcome, type ReportedOutcome } from '../../reported-outcomes.ts';
import { INDEPENDENT, getInput } from '../inputs.ts';

interface Append {
  readonly call: Call;
  readonly element: string;
  readonly reported: ReportedOutcome;
}

export function elementFaults(calls: readonly Call[]): string[] {
  return [...listFaults(calls), ...counterFaults(calls)];
}

function listFaults(calls: readonly Call[]): string[] {
  const appends = new Map<string, Map<string, Append>>();
  for (const call of calls) {
    for (const { key, element } of getInput(call).appends ?? []) {
      const ofKey = appends.get(key) ?? new Map<string, Append>();
      appends.set(key, ofKey.set(element, { call, element, reported: getReportedOutcome(call) }));
    }
  }
  return calls.flatMap((call) =>
    (call.views ?? []).flatMap(({ level, value, atMs }) => {
      const lists = getInput(call).lists ?? [];
      return lists.flatMap((key, at) => {
        const elements = (value as readonly (readonly string[])[])[at] ?? [];
        const faults = shownFaults(elements, { ofKey: appends.get(key) ?? new Map(), atMs });
        const missing = level === 'strong' ? missingFrom(elements, call, appends.get(key)) : [];
        return [...faults, ...missing].map(
          (fault) =>
            `${key}: ${call.session} was shown it at ${atMs.toFixed(1)} ms, ${level}, ${fault}`,
        );
      });
    }),
  );
}

interface Shown {
  readonly ofKey: ReadonlyMap<string, Append>;
  readonly atMs: number;
}

function shownFaults(elements: readonly string[], { ofKey, atMs }: Shown): string[] {
  const encountered = new Set<string>();
  return elements.flatMap((element) => {
    const isTwice = encountered.has(element);
    encountered.add(element);
    const append = ofKey.get(element);
    if (append === undefined) return [`with "${element}", which no call appended`];
    if (isTwice) return [`with "${element}" twice (${inWords(append)})`];
    if (append.reported === 'not made')
      return [`with "${element}", which failed as not made: ${inWords(append)}`];
    return append.call.beginMs > atMs ? [`with "${element}" before it was appended`] : [];
  });
}

function missingFrom(
  elements: readonly string[],
  { beginMs }: Call,
  ofKey: Shown['ofKey'] = new Map(),
): string[] {
  const there = new Set(elements);
  return [...ofKey.values()]
    .filter(
      ({ element, reported: fate, call }) =>
        fate === 'made' && (call.endMs ?? Infinity) <= beginMs && !there.has(element),
    )
    .map((append) => `without "${append.element}" of ${inWords(append)}`);
}

function counterFaults(calls: readonly Call[]): string[] {
  const made = new Map<string, { sure: number; possible: number }>();
  for (const call of calls) {
    for (const key of getInput(call).counts ?? []) {
      const count = made.get(key) ?? { sure: 0, possible: 0 };
      const fate = getReportedOutcome(call);
      if (fate === 'made') count.sure += 1;
      if (fate !== 'not made') count.possible += 1;
      made.set(key, count);
    }
  }
  return calls
    .filter(({ session }) => session === INDEPENDENT)
    .flatMap((call) =>
      (getInput(call).counters ?? []).flatMap((key, at) => {
        const number = Number(
          (call.views?.[0]?.value as readonly unknown[] | undefined)?.[at] ?? 0,
        );
        const { sure = 0, possible = 0 } = made.get(key) ?? {};
        if (number >= sure && number <= possible) return [];
        return [`${key}: counts ${number}, but ${sure} succeeded, and at most ${possible} can be`];
      }),
    );
}

function inWords({ call }: Append): string {
  return `${call.kind} of ${call.session} (${call.beginMs.toFixed(1)} ms: ${call.outcome ?? 'in flight'})`;
}
