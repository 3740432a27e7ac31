/**
 * A table of identifiers remembers what the rules require (docs/spec/exactly-once.md), compared
 * with a model of plain lists, also when it was saved and loaded in between.
 */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import {
  getClient,
  formatOperationId,
  getSequence,
} from '../../src/server/site/core/operation-id.ts';
import { EXPIRED, IdTable } from '../../src/server/site/parts/lookups/id-table.ts';
import { onceEach, sharesOf, testShares, unnoted, type Note } from '../support/property-shares.ts';
import { scaleRuns } from '../support/lane.ts';
import { saveAll, saveChanges } from '../support/saved-rows.ts';

const RUNS = Number(process.env['FC_RUNS'] ?? scaleRuns(300));
const LIMITS = {
  maxOperations: 8,
  maxBytes: 22,
  maxOperationsPerClient: 3,
  maxBytesPerClient: 10,
  maxOperationsPerPrincipal: 4,
  maxBytesPerPrincipal: 12,
  maxClients: 4,
};
const CODEC = {
  save: (value: string) => value,
  load: (saved: unknown) => saved as string,
  measure: (value: string) => value.length,
};
/** Two of one principal, one of another, and some who stand for themselves. */
const CLIENTS = ['p/a', 'p/b', 'q/c', 'd', 'e', '/f'];
const STEPS_MAX = 80;
/** Clients number upwards, all at about this pace. */
const STEPS_PER_NUMBER = 8;
const NUMBERS_AHEAD = 6;
const NUMBER_MAX = STEPS_MAX / STEPS_PER_NUMBER + NUMBERS_AHEAD;
/** Clients looked at when a new one is one too many. */
const LOOKS_MAX = 8;

const client = fc.constantFrom(...CLIENTS);
const step = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({
      client,
      set: fc.integer({ min: 1, max: NUMBERS_AHEAD }),
      bytes: fc.nat(6),
    }),
  },
  { weight: 1, arbitrary: fc.record({ client, expire: fc.integer({ min: 0, max: 3 }) }) },
  { weight: 1, arbitrary: fc.constantFrom('save' as const, 'load' as const) },
);

interface Operation {
  readonly client: string;
  readonly sequence: number;
  value: string;
}

interface Client {
  readonly name: string;
  watermark: number;
  isRecent: boolean;
}

/**
 * The rules. Both lists are in the order in which what stands in them came, or was looked at last.
 */
class PlainTable {
  readonly #note: Note;
  #operations: Operation[] = [];
  #clients: Client[] = [];

  constructor(note: Note) {
    this.#note = note;
  }

  get size(): number {
    return this.#operations.length;
  }

  get bytes(): number {
    return bytesOf(this.#operations);
  }

  get(id: string): unknown {
    const known = this.#client(getClient(id));
    if (known !== undefined && getSequence(id) <= known.watermark) return EXPIRED;
    return this.#operations.find((item) => formatOperationId(item.client, item.sequence) === id)
      ?.value;
  }

  set(name: string, number: number, value: string): void {
    const known = this.#client(name) ?? this.#come(name);
    known.isRecent = true;
    if (number <= known.watermark) return;
    const there = this.#operations.find((item) => item.client === name && item.sequence === number);
    if (there !== undefined && value.length < there.value.length)
      this.#note('a value becomes shorter');
    if (there === undefined) this.#operations.push({ client: name, sequence: number, value });
    else there.value = value;
    const own = (item: Operation): boolean => item.client === name;
    const byNumber = (): Operation[] =>
      this.#operations.filter(own).toSorted((a, b) => a.sequence - b.sequence);
    this.#trim(
      byNumber,
      LIMITS.maxOperationsPerClient,
      LIMITS.maxBytesPerClient,
      'a client has too much',
    );
    const principal = principalOf(name);
    const getPrincipalTag = (item: Operation): boolean => principalOf(item.client) === principal;
    if (principal !== '') {
      const inOrder = (): Operation[] => this.#operations.filter(getPrincipalTag);
      this.#trim(
        inOrder,
        LIMITS.maxOperationsPerPrincipal,
        LIMITS.maxBytesPerPrincipal,
        'a principal has too much',
      );
    }
    this.#trim(() => this.#operations, LIMITS.maxOperations, LIMITS.maxBytes, 'all have too much');
  }

  expire(name: string, upTo: number): void {
    const known = this.#client(name);
    if (known === undefined || upTo <= known.watermark) return;
    known.watermark = upTo;
    known.isRecent = true;
    this.#operations = this.#operations.filter(
      (item) => item.client !== name || item.sequence > upTo,
    );
  }

  /**
   * The first of them go, each with what its client has numbered lower, until the rest is few and
   * small enough.
   */
  #trim(inOrder: () => readonly Operation[], max: number, maxBytes: number, reason: string): void {
    for (let retained = inOrder(); ; retained = inOrder()) {
      const [first] = retained;
      if (
        first === undefined ||
        (retained.length <= max && (bytesOf(retained) <= maxBytes || retained.length === 1))
      )
        return;
      this.#note(retained.length > max ? reason : `${reason} in bytes`);
      this.expire(first.client, first.sequence);
    }
  }

  #client(name: string): Client | undefined {
    return this.#clients.find((item) => item.name === name);
  }

  #come(name: string): Client {
    for (
      let looks = 0;
      looks < LOOKS_MAX && this.#clients.length >= LIMITS.maxClients;
      looks += 1
    ) {
      const looked = this.#clients.shift() as Client;
      const hasSome = this.#operations.some((item) => item.client === looked.name);
      if (!looked.isRecent && !hasSome) this.#note('a client is forgotten');
      else this.#clients.push({ ...looked, isRecent: false });
      if (looked.isRecent && !hasSome) this.#note('a client without operations has been heard of');
    }
    const come = { name, watermark: 0, isRecent: true };
    this.#clients.push(come);
    return come;
  }
}

function bytesOf(operations: readonly Operation[]): number {
  return operations.reduce((sum, { value }) => sum + value.length, 0);
}

/** A name that begins with a slash does not say whose it is. */
function principalOf(name: string): string {
  return name.slice(0, Math.max(0, name.indexOf('/')));
}

/** What checkpoints keep of a table: the changes of each, the later ones over the earlier. */
class Saved {
  readonly #rows: Record<string, Map<string, unknown>> = {};

  take(table: IdTable<string>): void {
    for (const [name, section] of Object.entries(table.sections('t'))) {
      const save = name in this.#rows ? saveChanges : saveAll;
      const rows = (this.#rows[name] ??= new Map());
      for (const [key, value] of save(section)) {
        if (value === undefined) rows.delete(key);
        else rows.set(key, JSON.parse(JSON.stringify(value)));
      }
    }
  }

  load(): IdTable<string> {
    const table = new IdTable<string>(LIMITS, CODEC);
    for (const [name, section] of Object.entries(table.sections('t')))
      section.restore(this.#rows[name] ?? new Map());
    return table;
  }
}

const IDS = CLIENTS.flatMap((item) =>
  Array.from({ length: NUMBER_MAX }, (_, n) => formatOperationId(item, n + 1)),
);

const asTheRulesSay = (note: Note): fc.IRawProperty<unknown> =>
  fc.property(fc.array(step, { minLength: 20, maxLength: STEPS_MAX, size: 'max' }), (steps) => {
    const once = onceEach(note);
    const plain = new PlainTable(once);
    let table = new IdTable<string>(LIMITS, CODEC);
    let saved: Saved | undefined;
    for (const [at, item] of steps.entries()) {
      const low = Math.floor(at / STEPS_PER_NUMBER);
      if (typeof item === 'string') {
        if (item === 'load' && saved !== undefined && table.retainedReplies.operations > 1)
          once('loaded, saved before that');
        saved ??= new Saved();
        saved.take(table);
        if (item === 'load') [table, saved] = [saved.load(), undefined];
      } else if ('set' in item) {
        const value = String(at).padEnd(item.bytes, '.').slice(0, item.bytes);
        table.set(formatOperationId(item.client, low + item.set), value);
        plain.set(item.client, low + item.set, value);
      } else {
        table.expire(item.client, low + item.expire);
        plain.expire(item.client, low + item.expire);
      }
      expect(IDS.map((id) => table.get(id))).toEqual(IDS.map((id) => plain.get(id)));
      expect(table.retainedReplies).toEqual({ operations: plain.size, bytes: plain.bytes });
    }
  });

test('set, acknowledged, saved and loaded in any order → remembered and forgotten as the rules say', async () => {
  await fc.assert(asTheRulesSay(unnoted), { numRuns: RUNS });
});

testShares('what the rules are asked about → each reason to forget', async () => {
  const shares = await sharesOf(asTheRulesSay, 200);
  for (const description of [
    'a client has too much',
    'a client has too much in bytes',
    'a principal has too much',
    'a principal has too much in bytes',
    'all have too much',
    'all have too much in bytes',
    'a value becomes shorter',
    'a client is forgotten',
    'a client without operations has been heard of',
    'loaded, saved before that',
  ]) {
    expect(shares[description], description).toBeGreaterThan(0.2);
  }
});
