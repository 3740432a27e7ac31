/**
 * States that hold all invariants and that no run has led to. RedBlue asks of a blue shadow operation to keep the
 * invariants in all valid states (OSDI 2012, Definition 8), and which of them can be reached no tool can tell. So what is
 * found here is told, and is no alarm: mostly it says which invariant is missing.
 */
import type { Random } from '../collections/random.ts';
import type { Effect } from '../records/effect.ts';
import type { Choice } from '../records/reply.ts';
import { isWholeRow } from '../service/row-effects.ts';
import type { Tables } from '../service/tables.ts';
import type { Edges } from './edges.ts';
import { shown } from './values/shown.ts';
import { LabelSite } from './site.ts';
import { Stamps, THERE } from './stamps.ts';
import { brokenText, rowText } from './story.ts';
import type { Workshop } from './workshop.ts';

/** So many values of one field are remembered. */
const SEEN_MAX = 24;

/** Values that runs have written to fields: of most fields no type says what they may have. */
export class SeenValues {
  readonly #values = new Map<string, Map<string, unknown[]>>();

  note(effects: readonly Effect[]): void {
    for (const effect of effects) {
      if (isWholeRow(effect)) continue;
      const { action, value } = effect;
      const actions = this.of(effect.table, effect.field);
      const known = actions.get(action) ?? [];
      actions.set(action, known);
      if (known.length < SEEN_MAX && !known.includes(value)) known.push(value);
    }
  }

  /** By what was done with them. */
  of(table: string, field: string): Map<string, unknown[]> {
    const name = JSON.stringify([table, field]);
    const actions = this.#values.get(name) ?? new Map<string, unknown[]>();
    this.#values.set(name, actions);
    return actions;
  }
}

/** What states are drawn from. */
export interface UnreachedSource {
  readonly random: Random;
  readonly seen: SeenValues;
  readonly edges: Edges;
}

const counterName = (table: string, field: string): string => JSON.stringify([table, field]);

/** A valid state, and what a shadow operation breaks in it; `undefined` where it breaks nothing, or none was drawn. */
export function breaksUnreached(
  workshop: Workshop,
  { shadow, effects, args }: Choice,
  source: UnreachedSource,
): readonly string[] | undefined {
  const { tables } = workshop.judged;
  const rows = [...new Map(effects.map(({ table, key }) => [JSON.stringify([table, key]), { table, key }])).values()];
  const given = rows.flatMap((row) => drawnRow(tables, row, source));
  const stamps = new Stamps();
  const stamp = stamps.next(THERE, false);
  const site = new LabelSite(workshop, [{ effects: given, stamp }]);
  if (given.length === 0 || site.brokenBy(given) !== undefined || !site.isLeftFor(effects)) return undefined;
  for (const [at, { table, field, action, value }] of given.entries()) {
    if (tables[table]?.fields[field]?.kind !== 'counter' || action !== 'add') continue;
    source.edges.look(counterName(table, field), value as number, (other) => {
      const others = given.with(at, { ...(given[at] as Effect), value: other });
      return new LabelSite(workshop, [{ effects: others, stamp }]).brokenBy(others) === undefined;
    });
  }
  const before = site.rowsOf(effects).map(rowText);
  site.apply({ effects, stamp: stamps.apart(0) });
  const broken = site.brokenBy(effects);
  if (broken === undefined) return undefined;
  return [
    `In a valid state that no run has led to: ${before.join('; ')}.`,
    `Then ${shadow} ${shown(args)}.`,
    brokenText(broken),
  ];
}

interface RowName {
  readonly table: string;
  readonly key: string;
}

function drawnRow(tables: Tables, row: RowName, { random, seen, edges }: UnreachedSource): readonly Effect[] {
  return Object.entries(tables[row.table]?.fields ?? {}).flatMap(([field, { kind }]): readonly Effect[] => {
    const done = seen.of(row.table, field);
    const write = (action: string, value: unknown): Effect => ({ ...row, field, action, value });
    if (kind === 'counter') {
      const known = done.get('add') ?? [];
      const ends = edges.of(counterName(row.table, field));
      if (ends.length > 0 && random.chance(0.3)) return [write('add', pick(random, ends))];
      const near = known.length > 0 && random.chance(0.5) ? Math.abs(Number(pick(random, known))) : 0;
      return [write('add', near + random.between(-2, 3))];
    }
    if (kind === 'bounded') return [write('give', random.between(0, 3))];
    if (kind === 'stock') return [write('add', random.between(0, 3))];
    return [...done].flatMap(([action, values]) => {
      if (action === 'remove' || action === 'pop' || random.chance(0.3)) return [];
      if (kind !== 'set') return [write(action, pick(random, values))];
      const share = random.fraction();
      return values.filter(() => random.chance(share)).map((value) => write(action, value));
    });
  });
}

function pick(random: Random, values: readonly unknown[]): unknown {
  return values[random.between(0, values.length - 1)];
}
