/** A table of identifiers that was saved and loaded goes on exactly as one that was not: also in what it forgets. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { IdTable } from '../../src/server/replica/exactly-once/id-table.ts';
import { formatOperationId } from '../../src/server/records/operation-id.ts';
import { EXPIRED } from '../../src/server/replica/exactly-once/id-table-entries.ts';
import { onceEach, sharesOf, testShares, unnoted, type Note } from '../support/property-shares.ts';
import { scaleRuns } from '../support/lane.ts';

const RUNS = Number(process.env['FC_RUNS'] ?? scaleRuns(300));
const LIMITS = {
  maxOperations: 6,
  maxBytes: 14,
  maxOperationsPerClient: 4,
  maxBytesPerClient: 9,
  maxOperationsPerPrincipal: 5,
  maxBytesPerPrincipal: 11,
  maxClients: 3,
};
const CODEC = {
  save: (value: string) => value,
  load: (saved: unknown) => saved as string,
  measure: (value: string) => value.length,
};
/** Two of one principal, one of another, and two who stand for themselves. */
const CLIENTS = ['p/a', 'p/b', 'q/c', 'd', 'e'];
const SEQUENCES = 12;

const client = fc.constantFrom(...CLIENTS);
const sequence = fc.integer({ min: 1, max: SEQUENCES });
const step = fc.oneof(
  { weight: 5, arbitrary: fc.record({ client, set: sequence, bytes: fc.nat(5) }) },
  { weight: 2, arbitrary: fc.record({ client, expire: sequence }) },
);
type Step = typeof step extends fc.Arbitrary<infer S> ? S : never;

function apply(table: IdTable<string>, item: Step): void {
  if ('set' in item) table.set(formatOperationId(item.client, item.set), String(item.set).padEnd(item.bytes, '.'));
  else table.expire(item.client, item.expire);
}

function show(table: IdTable<string>): string[] {
  const ids = CLIENTS.flatMap((item) => Array.from({ length: SEQUENCES }, (_, n) => formatOperationId(item, n + 1)));
  return ids.map((id) => `${id}: ${String(table.get(id))}`);
}

/** What checkpoints keep of a table: the changes of each, the later ones over the earlier. */
class Saved {
  readonly #rows: Record<string, Map<string, unknown>> = {};

  take(table: IdTable<string>): void {
    for (const [name, section] of Object.entries(table.sections('t'))) {
      const rows = (this.#rows[name] ??= new Map());
      for (const [key, value] of section.takeChanges(Infinity)) {
        if (value === undefined) rows.delete(key);
        else rows.set(key, JSON.parse(JSON.stringify(value)));
      }
    }
  }

  load(): IdTable<string> {
    const table = new IdTable<string>(LIMITS, CODEC);
    for (const [name, section] of Object.entries(table.sections('t'))) section.restore(this.#rows[name] ?? new Map());
    return table;
  }
}

/** What the table has forgotten of its own accord, in doing what was asked. */
function noteForgotten(item: Step, before: readonly string[], after: readonly string[], note: Note): void {
  for (const [at, line] of after.entries()) {
    const was = before[at] as string;
    if (was === line) continue;
    const isOwn = line.startsWith(formatOperationId(item.client, 0).slice(0, -1));
    if (was.endsWith(String(EXPIRED))) note('a client is forgotten');
    else if (line.endsWith(String(EXPIRED)) && 'set' in item && !was.endsWith('undefined'))
      note(isOwn ? 'a client loses an operation of its own' : 'another client loses an operation');
    else if (line.endsWith(String(EXPIRED)) && 'expire' in item) note('a watermark is moved');
  }
}

const savedAndLoaded = (note: Note): fc.IRawProperty<unknown> => {
  const steps = fc.array(step, { maxLength: 40, size: 'max' });
  const later = fc.array(step, { minLength: 20, maxLength: 40, size: 'max' });
  return fc.property(steps, steps, later, (before, between, after) => {
    const once = onceEach(note);
    const table = new IdTable<string>(LIMITS, CODEC);
    const saved = new Saved();
    for (const item of before) apply(table, item);
    for (const section of Object.values(table.sections('t'))) section.changeAll();
    saved.take(table);
    const atFirst = show(table);
    for (const entry of between) apply(table, entry);
    saved.take(table);
    const loaded = saved.load();
    let shown = show(table);
    expect(show(loaded)).toEqual(shown);
    if (loaded.size > 1) once('several operations are loaded');
    if (atFirst.some((line, at) => line !== shown[at])) once('something has changed between the two moments');
    for (const element of after) {
      apply(table, element);
      apply(loaded, element);
      const next = show(table);
      expect(show(loaded)).toEqual(next);
      expect(loaded.size).toBe(table.size);
      noteForgotten(element, shown, next, once);
      if ('set' in element && next.join() === shown.join()) once('an operation that is known, or over, comes again');
      shown = next;
    }
  });
};

test('saved at any two moments and loaded → the same from then on, whatever follows', async () => {
  await fc.assert(savedAndLoaded(unnoted), { numRuns: RUNS });
});

testShares('what is loaded → goes on to forget, in most runs and for each reason', async () => {
  const shares = await sharesOf(savedAndLoaded, 200);
  for (const description of [
    'several operations are loaded',
    'something has changed between the two moments',
    'a watermark is moved',
    'an operation that is known, or over, comes again',
  ]) {
    expect(shares[description], description).toBeGreaterThan(0.6);
  }
  expect(shares['another client loses an operation']).toBeGreaterThan(0.5);
  for (const subject of ['a client loses an operation of its own', 'a client is forgotten']) {
    expect(shares[subject], subject).toBeGreaterThan(0.25);
  }
});
