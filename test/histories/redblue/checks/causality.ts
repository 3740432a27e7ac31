/**
 * Whether what was seen keeps cause before effect. An update's causes are what its session had been shown or had been
 * acknowledged when it was called. Sessions see what they have seen, and what they have done; a snapshot with an update
 * has its causes too; and in a row lines stand after their causes.
 */
import type { Call } from '../../history.ts';
import { groupBy } from '../../group-by.ts';
import { Bits } from './bitset.ts';
import type { Sight, Trace } from './reads.ts';

export interface Seen {
  readonly calls: readonly Call[];
  readonly sights: readonly Sight[];
  readonly traces: ReadonlyMap<string, Trace>;
}

export function causalityFaults(seen: Seen): string[] {
  const ids = [...seen.traces.keys()];
  const numbers = new Map(ids.map((id, n) => [id, n]));
  const known = getPriorKnowledge(seen, numbers);
  const name = (n: number | undefined): string => `"${ids[n ?? -1]}"`;
  return seen.sights.flatMap(({ call, level, look, ids: shown }) => {
    const bits = bitsOf(shown, numbers);
    const where = `${call.session} at ${Math.round(call.beginMs)} ms, ${level}`;
    const forgotten = known.get(call)?.firstBeyond(bits);
    const faults =
      forgotten === undefined ? [] : [`${where}: its session had ${name(forgotten)}, and the view has not`];
    for (const id of shown) {
      const update = seen.traces.get(id);
      const missing = update && known.get(update.call)?.firstBeyond(bits);
      if (missing !== undefined) faults.push(`${where}: has "${id}" without its cause ${name(missing)}`);
    }
    return [
      ...faults,
      ...look.lines.flatMap((lines) =>
        misplaced(lines, numbers, known, seen.traces).map((fault) => `${where}: ${fault}`),
      ),
    ];
  });
}

/** Lines that stand before one of their causes. */
function misplaced(
  lines: readonly string[],
  numbers: ReadonlyMap<string, number>,
  known: ReadonlyMap<Call, Bits>,
  traces: ReadonlyMap<string, Trace>,
): string[] {
  const faults: string[] = [];
  const later = new Bits(numbers.size);
  for (const id of lines.toReversed()) {
    const causes = known.get((traces.get(id) as Trace | undefined)?.call as Call);
    const at = numbers.get(id);
    const after = lines.find((other) => later.has(numbers.get(other) ?? -1) && causes?.has(numbers.get(other) ?? -1));
    if (after !== undefined) faults.push(`"${id}" stands before its cause "${after}"`);
    if (at !== undefined) later.add(at);
  }
  return faults;
}

/** What the session of each call knew when it was made. */
function getPriorKnowledge({ calls, sights, traces }: Seen, numbers: ReadonlyMap<string, number>): Map<Call, Bits> {
  const shownTo = new Map<Call, string[]>();
  for (const { call, ids } of sights) shownTo.set(call, [...(shownTo.get(call) ?? []), ...ids]);
  const madeBy = new Map(
    [...traces.values()].filter(({ reported }) => reported === 'made').map(({ call, id }) => [call, id]),
  );
  const known = new Map<Call, Bits>();
  for (const ofSession of groupBy(calls, ({ session }) => session).values()) {
    const ended = ofSession.filter(({ endMs }) => endMs !== undefined).sort((a, b) => (a.endMs ?? 0) - (b.endMs ?? 0));
    const so = new Bits(numbers.size);
    let next = 0;
    for (const call of [...ofSession].sort((a, b) => a.beginMs - b.beginMs)) {
      for (; (ended[next]?.endMs ?? Infinity) < call.beginMs; next += 1) {
        const before = ended[next] as Call;
        const made = madeBy.get(before);
        so.addAll(bitsOf([...(shownTo.get(before) ?? []), ...(made === undefined ? [] : [made])], numbers));
      }
      known.set(call, so.copy());
    }
  }
  return known;
}

function bitsOf(ids: readonly string[], numbers: ReadonlyMap<string, number>): Bits {
  const bits = new Bits(numbers.size);
  for (const id of ids) {
    const at = numbers.get(id);
    if (at !== undefined) bits.add(at);
  }
  return bits;
}
