/**
 * Whether views of everything keep causes before effects, and sessions see what they have seen and
 * done. An update's causes are what its session had been shown or had been acknowledged when it was
 * called.
 */
import { groupBy } from '../../histories/group-by.ts';
import { Bits } from './bitset.ts';
import type { Evidence, RecordedCall } from '../evidence.ts';
import { listSightings, listUpdates, type NamedUpdate, type Sighting } from './sightings.ts';

export function causalViewFaults({ operations, ...evidence }: Evidence): string[] {
  const sightings = listSightings(operations);
  const updates = listUpdates({ operations, ...evidence });
  const ids = [...updates.keys()];
  const numbers = new Map(ids.map((id, n) => [id, n]));
  const known = getPriorKnowledge(operations, sightings, updates, numbers);
  const name = (n: number | undefined): string => `"${ids[n ?? -1]}"`;
  return sightings.flatMap(({ call, level, ids: shown }) => {
    const bits = bitsOf(shown, numbers);
    const where = `${call.session} at ${Math.round(call.beginMs)} ms, ${level}`;
    const forgotten = known.get(call)?.firstBeyond(bits);
    const faults =
      forgotten === undefined
        ? []
        : [`${where}: its session had ${name(forgotten)}, and the view has not`];
    for (const id of shown) {
      const update = updates.get(id);
      const missing = update && known.get(update.call)?.firstBeyond(bits);
      if (missing !== undefined)
        faults.push(`${where}: has "${id}" without its cause ${name(missing)}`);
    }
    return faults;
  });
}

/** What the session of each call knew when it was made. */
function getPriorKnowledge(
  calls: readonly RecordedCall[],
  sightings: readonly Sighting[],
  updates: ReadonlyMap<string, NamedUpdate>,
  numbers: ReadonlyMap<string, number>,
): Map<RecordedCall, Bits> {
  const shownTo = new Map<RecordedCall, string[]>();
  for (const { call, ids } of sightings) shownTo.set(call, [...(shownTo.get(call) ?? []), ...ids]);
  const madeBy = new Map(
    [...updates.values()]
      .filter(({ reported }) => reported === 'made')
      .map(({ call, id }) => [call, id]),
  );
  const known = new Map<RecordedCall, Bits>();
  for (const ofSession of groupBy(calls, ({ session }) => session).values()) {
    const ended = ofSession
      .filter(({ endMs }) => endMs !== undefined)
      .sort((a, b) => (a.endMs ?? 0) - (b.endMs ?? 0));
    const so = new Bits(numbers.size);
    let next = 0;
    for (const call of [...ofSession].sort((a, b) => a.beginMs - b.beginMs)) {
      for (; (ended[next]?.endMs ?? Infinity) < call.beginMs; next += 1) {
        const before = ended[next] as RecordedCall;
        const made = madeBy.get(before);
        so.addAll(
          bitsOf([...(shownTo.get(before) ?? []), ...(made === undefined ? [] : [made])], numbers),
        );
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
