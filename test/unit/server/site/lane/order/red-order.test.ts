/**
 * The red order is serializable: every kind of read against every kind of effect, both orders, on
 * rows that red or blue operations brought in or took away, with clocks that are off, judged by a
 * plain model.
 */
// @rule RB-R1a
import { describe, expect, test } from 'vitest';
import type { Effect } from '../../../../../../src/server/service/records/effect.ts';
import { CHANGES, isFor, READS, service, TABLE_NAMES } from './red-order-cases.ts';
import type { TableName } from './red-order-cases.ts';
import { plainTable } from './red-order-model.ts';
import { Sites } from '../../sites.ts';
import type { Outcome } from '../../sites.ts';
import { sampleCases } from '../../../../../support/lane.ts';

type Party = 'reader' | 'writer';

/**
 * What happened before: for all sites to see, then at one site, where only its own operations see
 * it.
 */
interface Past {
  readonly red?: readonly string[];
  readonly blue?: readonly string[];
  readonly lately?: { readonly by: Party; readonly blue: readonly string[] };
}

const ROW = ['duty b on', 'tag b x', 'n b'];
const PASTS: Readonly<Record<string, Past>> = {
  nothing: {},
  'a row by red': { red: [...ROW, 'post b', 'push b', 'stock b'] },
  'a row by blue': { blue: ROW },
  'a row by blue that the writer alone sees': { lately: { by: 'writer', blue: ['duty b on'] } },
  'a row by blue that the reader alone sees': { lately: { by: 'reader', blue: ['duty b on'] } },
  'a row by red, removed by red': { red: [...ROW, 'remove b'] },
  'a row by red, removed by blue, as the writer alone sees': {
    red: ROW,
    lately: { by: 'writer', blue: ['remove b'] },
  },
  'a row by red, removed by blue, as the reader alone sees': {
    red: ROW,
    lately: { by: 'reader', blue: ['remove b'] },
  },
  'a row by red, removed by red, brought back by blue, as the writer alone sees': {
    red: [...ROW, 'remove b'],
    lately: { by: 'writer', blue: ['insert b'] },
  },
};

/** Pasts that such a table can have: blue operations remove no rows that have red-only fields. */
function pastsOf(name: TableName): [string, Past][] {
  const isPossible = ({ red = [], lately }: Past): boolean =>
    !(name !== 'open' && lately?.blue.includes('remove b') === true) &&
    !(name === 'kept' && red.includes('remove b'));
  return Object.entries(PASTS).filter(([, past]) => isPossible(past));
}

const SITE_OF = { first: 0, second: 1, witness: 2 };
const SKEW_MS = 50;
const SKEWS: readonly Party[] = ['writer', 'reader'];

interface Story {
  readonly name: TableName;
  readonly past: Past;
  readonly change: string;
  readonly first: Party;
  /** Whose clock is ahead. */
  readonly ahead: Party;
}

interface RunResult {
  /** By the name of the read. */
  readonly reads: ReadonlyMap<string, Outcome>;
  readonly change: Outcome;
  readonly sites: Sites;
}

const readsOf = (name: TableName): string[] =>
  Object.keys(READS).filter((kind) => isFor(name, READS[kind]!));

/** Runs all reads and the change at once, those of `first` being first in the red order. */
function run({ name, past, change, first, ahead }: Story): RunResult {
  // A witness is needed only for what one of the two alone has seen.
  const sites = new Sites(service, past.lately === undefined ? 2 : 3);
  const siteOf = (party: Party): number => (party === first ? SITE_OF.first : SITE_OF.second);
  const possible = (kinds: readonly string[] = []): string[] =>
    kinds.filter((kind) => isFor(name, CHANGES[kind]!));
  const submit = (site: number, operation: string, kind: string): Outcome =>
    sites.submit(site, { name: operation, args: { name, kind } });
  for (const [operation, kinds] of [
    ['change', past.red] as const,
    ['changeBlue', past.blue] as const,
  ]) {
    for (const kind of possible(kinds)) {
      submit(SITE_OF.first, operation, kind);
      sites.settle();
    }
  }
  sites.aheadMs[siteOf(ahead)] = SKEW_MS;
  if (past.lately !== undefined) {
    const site = siteOf(past.lately.by);
    for (const kind of past.lately.blue) submit(site, 'changeBlue', kind);
    // A third site has it too: else the red operations that depend on it would wait.
    sites.sync(site);
    sites.deliver(({ to }) => to === SITE_OF.witness);
    sites.sync(SITE_OF.witness);
    sites.deliver(({ from, to }) => from === SITE_OF.witness && to === site);
  }
  const reads = new Map<string, Outcome>();
  const begin: Record<Party, () => Outcome | undefined> = {
    reader: () => {
      for (const kind of readsOf(name)) reads.set(kind, submit(siteOf('reader'), 'read', kind));
      return undefined;
    },
    writer: () => submit(siteOf('writer'), 'change', change),
  };
  const second: Party = first === 'reader' ? 'writer' : 'reader';
  const outcomes = [begin[first](), begin[second]()];
  sites.settle();
  return { reads, change: outcomes.find((outcome) => outcome !== undefined) as Outcome, sites };
}

/**
 * The effects of the past and of the change in the order that decides, and those that the reader
 * could see.
 */
function effectsOf({ name, past, change, first, ahead }: Story): {
  final: Effect[];
  read: Effect[];
} {
  const of = (kinds: readonly string[] = []): Effect[] =>
    kinds.flatMap((kind) => {
      const known = CHANGES[kind];
      return known !== undefined && isFor(name, known) ? known.effects(name) : [];
    });
  const before = [...of(past.red), ...of(past.blue)];
  const late = of(past.lately?.blue);
  const changed = of([change]);
  // What one site alone has seen is older than its own change. Else clocks decide, and the red
  // order counts on from those of the reads before the change.
  const isLateLater = past.lately?.by === 'reader' && ahead === 'reader' && first === 'writer';
  const both = isLateLater ? [...changed, ...late] : [...late, ...changed];
  const seen = past.lately?.by === 'reader' ? late : [];
  if (first === 'reader') return { final: [...before, ...both], read: [...before, ...seen] };
  const read = past.lately?.by === 'reader' ? [...before, ...both] : [...before, ...changed];
  return { final: [...before, ...both], read };
}

const changesOf = (name: TableName): string[] =>
  Object.keys(CHANGES).filter((kind) => isFor(name, CHANGES[kind]!));

function* stories(name: TableName): Iterable<[string, Story]> {
  let turn = 0;
  for (const [pastName, past] of pastsOf(name)) {
    for (const change of changesOf(name)) {
      for (const first of ['writer', 'reader'] as const) {
        // Whose clock is ahead matters to those who have not seen each other; else one after the
        // other will do.
        const skews = past.lately === undefined ? [SKEWS[turn++ % 2] as Party] : SKEWS;
        for (const ahead of skews) {
          const title = `${name}, ${pastName}; ${change}; ${first} first, ${ahead} ahead`;
          yield [title, { name, past, change, first, ahead }];
        }
      }
    }
  }
}

const NAMED = /^(register|counter|set|log|cell|queue|stock|has b)$/u;

describe.each(TABLE_NAMES)('the red order, table %s', (name) => {
  test('every read with every effect, both orders → as one after the other, or rejected', () => {
    const faults: string[] = [];
    for (const [title, story] of sampleCases(stories(name))) {
      const { reads, change, sites } = run(story);
      const { final, read } = effectsOf(story);
      if (story.first === 'writer' && change.code !== undefined)
        faults.push(`${title}: ${change.code}`);
      const seen = plainTable(read);
      for (const [kind, { value, code }] of reads) {
        const expected = JSON.stringify(READS[kind]?.plain(seen));
        const reported = JSON.stringify(value);
        if (
          code === undefined
            ? reported !== expected
            : story.first === 'reader' || code !== 'CONFLICT'
        ) {
          faults.push(`${title}: ${kind} gave ${code ?? reported}, not ${expected}`);
        }
        // What the change does not touch is no reason to reject.
        if (code !== undefined && / bb/u.test(story.change) && NAMED.test(kind))
          faults.push(`${title}: ${kind} rejected`);
      }
      const end =
        change.code === undefined
          ? final
          : final.filter((effect) => !isCurrentEpoch(story, effect));
      const rows = plainTable(end);
      for (const site of sites.machines.keys()) {
        for (const kind of readsOf(name).filter((item) => !item.startsWith('scratchpad'))) {
          const shown = JSON.stringify(sites.read(site, { name: 'look', args: { name, kind } }));
          const expected = JSON.stringify(READS[kind]?.plain(rows));
          if (shown !== expected)
            faults.push(`${title}: in the end ${kind} at ${site} is ${shown}, not ${expected}`);
        }
      }
    }
    expect(faults).toEqual([]);
  });
});

/**
 * Runs two changes at two sites at once, on a row that both have; the first is first in the red
 * order.
 */
function runBlindly(
  name: TableName,
  [first, second]: readonly [string, string],
  ahead: Party,
): Sites {
  const sites = new Sites(service, 2);
  for (const kind of BOTH_HAVE.filter((item) => isFor(name, CHANGES[item]!))) {
    sites.submit(0, { name: 'change', args: { name, kind } });
    sites.settle();
  }
  sites.aheadMs[ahead === 'writer' ? SITE_OF.first : SITE_OF.second] = SKEW_MS;
  for (const [site, kind] of [first, second].entries())
    sites.submit(site, { name: 'change', args: { name, kind } });
  sites.settle();
  return sites;
}

const BOTH_HAVE = [...ROW, 'post b', 'push b', 'stock b'];

describe.each(TABLE_NAMES)('effects that nothing was read for, table %s', (name) => {
  test('any two of two sites at once → both take effect, in the red order, unless one brings back what was removed', () => {
    const faults: string[] = [];
    let turn = 0;
    const pairs = changesOf(name).flatMap((first) =>
      changesOf(name).map((second) => [first, second] as const),
    );
    for (const [first, second] of sampleCases(pairs)) {
      const ahead = SKEWS[turn++ % 2] as Party;
      const sites = runBlindly(name, [first, second], ahead);
      const isRejected = /^(remove|write and remove)/u.test(first) && !/^remove bb?$/u.test(second);
      const kinds = [
        ...BOTH_HAVE,
        first,
        ...(isRejected && sameRow(first, second) ? [] : [second]),
      ];
      const rows = plainTable(
        kinds.filter((item) => isFor(name, CHANGES[item]!)).flatMap(of(name)),
      );
      for (const kind of readsOf(name).filter((item) => !item.startsWith('scratchpad'))) {
        const expected = JSON.stringify(READS[kind]?.plain(rows));
        for (const site of [0, 1]) {
          const shown = JSON.stringify(sites.read(site, { name: 'look', args: { name, kind } }));
          if (shown !== expected)
            faults.push(
              `${first}, ${second}, ${ahead} ahead: ${kind} at ${site}: ${shown}, not ${expected}`,
            );
        }
      }
    }
    expect(faults).toEqual([]);
  });
});

const of =
  (name: TableName) =>
  (kind: string): readonly Effect[] =>
    (CHANGES[kind] as (typeof CHANGES)[string]).effects(name);

const sameRow = (item: string, other: string): boolean => / bb/u.test(item) === / bb/u.test(other);

function isCurrentEpoch({ change, name }: Story, effect: Effect): boolean {
  return (CHANGES[change]?.effects(name) ?? []).some(
    (item) => JSON.stringify(item) === JSON.stringify(effect),
  );
}
