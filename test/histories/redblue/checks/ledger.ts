/**
 * Whether each update took effect as often as reported, and whether no view ever broke an invariant or tore an update.
 */
import type { Call } from '../../history.ts';
import { groupBy } from '../../group-by.ts';
import type { Look } from '../contract.ts';
import { getIds, type Sight, type Trace } from './reads.ts';

/**
 * Faults of single views: lines without a write, lines of failed writes, lines that are there twice, wrong sums, broken
 * invariants.
 */
export function sightFaults(sights: readonly Sight[], traces: ReadonlyMap<string, Trace>): string[] {
  return sights.flatMap(({ call, level, look, ids }) => {
    const where = `${call.session} at ${Math.round(call.beginMs)} ms, ${level}`;
    return [...readNames(ids, traces, call), ...balances(look, traces)].map((fault) => `${where}: ${fault}`);
  });
}

function readNames(ids: readonly string[], traces: ReadonlyMap<string, Trace>, { endMs = Infinity }: Call): string[] {
  const faults: string[] = [];
  const before = new Set<string>();
  for (const id of ids) {
    const trace = traces.get(id);
    if (trace === undefined) faults.push(`has "${id}", which no call wrote`);
    else if (trace.call.beginMs > endMs) faults.push(`has "${id}" before it was written`);
    else if (trace.reported === 'not made')
      faults.push(`has "${id}", which failed as not made (${trace.call.outcome})`);
    if (before.has(id)) faults.push(`has "${id}" twice`);
    before.add(id);
  }
  return faults;
}

function balances({ accounts }: Look, traces: ReadonlyMap<string, Trace>): string[] {
  return accounts.flatMap(({ balance, ids }, n) => {
    const sum = ids.reduce((total, id) => total + (traces.get(id)?.amount ?? 0), 0);
    const faults = balance < 0 ? [`account ${n} stands at ${balance}`] : [];
    if (sum !== balance) faults.push(`account ${n} stands at ${balance}, and its payments add up to ${sum}`);
    return faults;
  });
}

/** A strong view without a red update that had been acknowledged before it was asked for. */
export function missedRed(sights: readonly Sight[], traces: ReadonlyMap<string, Trace>): string[] {
  const red = [...traces.values()].filter(({ call, reported }) => call.kind === 'withdraw' && reported === 'made');
  return sights
    .filter(({ level }) => level === 'strong')
    .flatMap(({ call, ids }) => {
      const shown = new Set(ids);
      const missed = red.find((trace) => (trace.call.endMs ?? Infinity) < call.beginMs && !shown.has(trace.id));
      if (missed === undefined) return [];
      return [`${call.session} at ${Math.round(call.beginMs)} ms: the strong view lacks "${missed.id}"`];
    });
}

/** The last doctor on duty never leaves. */
export function dutyFaults(sights: readonly Sight[]): string[] {
  const faults: string[] = [];
  for (const ofSession of groupBy(sights, ({ call }) => call.session).values()) {
    const inOrder = ofSession.toSorted((a, b) => a.call.beginMs - b.call.beginMs);
    const from = inOrder.findIndex(({ look }) => look.onDuty.length > 0);
    const empty = from < 0 ? undefined : inOrder.slice(from).find(({ look }) => look.onDuty.length === 0);
    if (empty !== undefined)
      faults.push(`${empty.call.session} at ${Math.round(empty.call.beginMs)} ms: no doctor is on duty`);
  }
  return faults;
}

/** What all sites show at last: the same, with all that was acknowledged. */
export function endFaults(
  last: ReadonlyMap<string, Call>,
  traces: ReadonlyMap<string, Trace>,
  calls: readonly Call[],
): string[] {
  const faults: string[] = [];
  const shown = new Set([...last.values()].map(({ output }) => JSON.stringify(output)));
  if (shown.size > 1)
    faults.push(`sites differ at last: ${[...shown].map((text) => text.slice(0, 200)).join(' and ')}`);
  const hasJoined = calls.some(({ kind, outcome }) => kind === 'join' && outcome === 'success');
  for (const [site, { outcome, output }] of last) {
    if (outcome !== 'success') {
      faults.push(`${site} cannot be read at last: ${outcome}`);
      continue;
    }
    const ids = new Set(getIds(output as Look));
    const lost = [...traces.values()].filter(({ id, reported }) => reported === 'made' && !ids.has(id));
    faults.push(...lost.map(({ id, call }) => `${site} has lost "${id}", acknowledged to ${call.session}`));
    if (hasJoined && (output as Look).onDuty.length === 0) faults.push(`${site}: no doctor is on duty at last`);
  }
  return faults;
}
