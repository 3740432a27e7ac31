/**
 * A service that is drawn from a seed: tables, shadow operations, and generators that read this and
 * that and reply with all that they have read, so that whatever is not as it should be comes to
 * light. Colors are right by construction: blue only where every effect may be, and no invariant
 * could be broken.
 */
import { z } from 'zod/v4';
import { defineContract } from '../../../src/contract/contract.ts';
import type { Effect } from '../../../src/server/service/records/effect.ts';
import type { ScanOptions } from '../../../src/server/service/records/read-range.ts';
import type { ChosenShadow } from '../../../src/server/service/records/reply.ts';
import type { FieldKindName } from '../../../src/server/service/fields/field.ts';
import { FIELD_KINDS } from '../../../src/server/service/fields/field-kinds.ts';
import { defineService } from '../../../src/server/service/service.ts';
import type { Service } from '../../../src/server/service/service.ts';
import type { ShadowOperation } from '../../../src/server/service/shadow-operation.ts';
import {
  cell,
  counter,
  log,
  queue,
  register,
  set,
  stock,
} from '../../../src/server/service/tables.ts';
import type { Field, Table } from '../../../src/server/service/tables.ts';
import { Random } from '../../../src/server/service/collections/random.ts';
import { getObservedTraits } from '../../../src/testing/simulator/scenario.ts';
import type { Scenario } from '../../../src/testing/simulator/scenario.ts';

interface Args {
  readonly key: string;
  readonly other: string;
  readonly text: string;
  readonly number: number;
}

interface AnyTable {
  row(key: string): Readonly<Record<string, unknown>>;
  has(key: string): boolean;
  keys(options?: ScanOptions): readonly string[];
  readonly by: Readonly<Record<string, (options?: ScanOptions) => readonly string[]>>;
}
type AnyTables = Readonly<Record<string, AnyTable>>;
type AnyEffects = Readonly<Record<string, Readonly<Record<string, (value?: unknown) => Effect>>>>;
interface AnyEffectTable {
  row(key: string): AnyEffects;
  insert(key: string): Effect;
  remove(key: string): Effect;
}
interface AnyContext {
  readonly tables: AnyTables;
  readonly shadow: Readonly<Record<string, (args: Args, reply?: unknown) => ChosenShadow<unknown>>>;
  readonly scratchpad: { apply(chosen: ChosenShadow<unknown>): unknown; discard(): void };
  uniqueId(): string;
  random(): number;
}

type Read = (args: Args, context: AnyContext) => unknown;
type Make = (tables: Readonly<Record<string, AnyEffectTable>>, args: Args) => Effect;
interface Part {
  readonly isRed: boolean;
  readonly makesResult: boolean;
  readonly make: Make;
}

/** A bounded field has its own profiles: it needs a minimum, and its effects depend on rights. */
type DrawnKind = Exclude<FieldKindName, 'bounded'>;
type ValueOf = (input: Args) => unknown;
type DrawnAction = readonly [action: string, valueOf: ValueOf];

/** What a drawn service declares and does with each kind. The type asks for a kind that is new. */
const FIELDS: Readonly<
  Record<DrawnKind, { declare(): Field; drawAction(random: Random, value: ValueOf): DrawnAction }>
> = {
  counter: { declare: () => counter(), drawAction: () => ['add', (input) => input.number] },
  register: { declare: () => register(), drawAction: (_, value) => ['write', value] },
  set: {
    declare: () => set(),
    drawAction: (random, value) => [random.pick(['add', 'add', 'remove']), value],
  },
  log: { declare: () => log(), drawAction: (_, value) => ['append', value] },
  cell: { declare: () => cell(), drawAction: (_, value) => ['assign', value] },
  queue: {
    declare: () => queue(),
    drawAction: (random, value) =>
      random.chance(0.6) ? ['push', value] : ['pop', () => undefined],
  },
  stock: {
    declare: () => stock(),
    drawAction: (random) => [random.pick(['add', 'take']), (input) => Math.abs(input.number)],
  },
};
const KINDS = Object.keys(FIELDS) as [DrawnKind];
const KEYS = ['a', 'ab', 'b', 'c'] as const;
const TEXTS = ['p', 'pq', 'q', 'r'] as const;
const args = z.object({ key: z.string(), other: z.string(), text: z.string(), number: z.number() });
const result = z.string();

/** The world of the service that this seed gives. */
export function generatedScenario(seed: number): Scenario {
  const { service, operations } = generate(new Random(seed ^ 0x9e41));
  return {
    service,
    traits: getObservedTraits(service),
    draw: ({ random }) => {
      const [key, other, text] = [random.pick(KEYS), random.pick(KEYS), random.pick(TEXTS)];
      return {
        operation: random.pick(operations),
        args: { key, other, text, number: random.between(-1, 3) },
      };
    },
    checkers: () => [],
  };
}

function generate(random: Random): {
  readonly service: Service;
  readonly operations: [string, ...string[]];
} {
  const tables: Record<string, Table> = {};
  for (let index = random.between(1, 2); index > 0; index -= 1)
    tables[`t${index}`] = drawTable(random);
  const parts = Array.from({ length: random.between(3, 6) }, () => drawParts(random, tables));
  const shadows = Object.fromEntries(parts.map((item, index) => [`s${index}`, item]));
  const specs: Record<string, object> = {};
  const generators: Record<string, unknown> = {};
  for (let index = random.between(3, 6); index > 0; index -= 1) {
    specs[`u${index}`] = { access: 'write', args, result };
    generators[`u${index}`] = drawUpdate(random, tables, Object.keys(shadows) as [string], shadows);
  }
  specs['look'] = { access: 'read', args, result };
  const reads = Array.from({ length: 4 }, () => drawRead(random, tables));
  generators['look'] = (value: Args, context: AnyContext) =>
    textOf(reads.map((read) => read(value, context)));
  const contract = defineContract('generated', specs as never);
  const implementation = {
    tables,
    shadowOperations: (effects: Readonly<Record<string, AnyEffectTable>>) =>
      Object.fromEntries(
        Object.entries(shadows).map(([name, item]) => [name, shadowOf(item, effects)]),
      ),
    generators,
  };
  const service = defineService(contract, implementation as never) as unknown as Service;
  return { service, operations: Object.keys(specs) as [string] };
}

function drawTable(random: Random): Table {
  const fields: Record<string, Field> = {};
  for (let index = random.between(1, 3); index > 0; index -= 1)
    fields[`f${index}`] = FIELDS[random.pick(KINDS)].declare();
  const canIndex = (name: string): boolean =>
    FIELD_KINDS[(fields[name] as Field).kind].isIndexable === true;
  const indexes = Object.keys(fields).filter((name) => canIndex(name) && random.chance(0.7));
  return { fields, indexes, removable: random.chance(0.6) };
}

function drawParts(random: Random, tables: Readonly<Record<string, Table>>): readonly Part[] {
  return Array.from({ length: random.between(1, 2) }, () => drawPart(random, tables));
}

function drawPart(random: Random, tables: Readonly<Record<string, Table>>): Part {
  const table = random.pick(Object.keys(tables) as [string]);
  const { fields, removable } = tables[table] as Table;
  const keyOf = random.chance(0.8) ? (value: Args) => value.key : (value: Args) => value.other;
  if (random.chance(0.25)) {
    const isRemoval = removable && random.chance(0.7);
    const isRed =
      isRemoval && Object.values(fields).some(({ kind }) => FIELD_KINDS[kind].isRedOnly);
    const make: Make = (effects, value) =>
      effects[table]?.[isRemoval ? 'remove' : 'insert'](keyOf(value)) as Effect;
    return { isRed, makesResult: false, make };
  }
  const field = random.pick(Object.keys(fields) as [string]);
  const kind = fields[field]?.kind as DrawnKind;
  const [action, valueOf] = drawAction(random, kind);
  // Called as a method: the builders of a row are methods of one class, and know its key by `this`.
  const make: Make = (effects, input) =>
    effects[table]?.row(keyOf(input))[field]?.[action]?.(valueOf(input)) as Effect;
  const { isRedOnly } = FIELD_KINDS[kind];
  return { isRed: isRedOnly, makesResult: isRedOnly, make };
}

function drawAction(random: Random, kind: DrawnKind): DrawnAction {
  const value = random.chance(0.7) ? (input: Args) => input.text : (input: Args) => input.number;
  return FIELDS[kind].drawAction(random, value);
}

/** Red where a part has to be, and now and then where none has to. */
function shadowOf(
  parts: readonly Part[],
  effects: Readonly<Record<string, AnyEffectTable>>,
): ShadowOperation {
  const build = (value: Args): readonly Effect[] => parts.map(({ make }) => make(effects, value));
  const isRed = parts.some((part) => part.isRed) || parts.length > 1;
  const makesResult = parts.some((part) => part.makesResult);
  const reply = (results: readonly unknown[]): string => textOf(results);
  return {
    color: isRed ? 'red' : 'blue',
    effects: build,
    ...(makesResult && { reply }),
  } as ShadowOperation;
}

function drawUpdate(
  random: Random,
  tables: Readonly<Record<string, Table>>,
  shadows: readonly [string, ...string[]],
  parts: Readonly<Record<string, readonly Part[]>>,
): unknown {
  const reads = Array.from({ length: random.between(0, 3) }, () => drawRead(random, tables));
  const [item, other, tried] = [random.pick(shadows), random.pick(shadows), random.pick(shadows)];
  const [triesChance, nothingAt] = [random.chance(0.3), random.between(0, 5)];
  const choose = (name: string, value: Args, { shadow }: AnyContext, reply: string): unknown =>
    (parts[name] as readonly Part[]).some(({ makesResult }) => makesResult)
      ? shadow[name]?.(value)
      : shadow[name]?.(value, reply);
  return (value: Args, context: AnyContext): unknown => {
    const seen = reads.map((read) => read(value, context));
    if (triesChance) {
      context.scratchpad.apply(choose(tried, value, context, '') as ChosenShadow<unknown>);
      seen.push(...reads.map((read) => read(value, context)));
      if (value.number > 1) context.scratchpad.discard();
    }
    const reply = textOf(seen);
    const decision =
      [...reply].reduce((sum, entry) => (sum * 31 + entry.charCodeAt(0)) % 997, value.number + 1) %
      6;
    if (reads.length > 0 && decision === nothingAt) return reply;
    return choose(decision % 2 === 0 ? item : other, value, context, reply);
  };
}

function drawRead(random: Random, tables: Readonly<Record<string, Table>>): Read {
  const table = random.pick(Object.keys(tables) as [string]);
  const { fields, indexes } = tables[table] as Table;
  const reader = ({ tables: all }: AnyContext): AnyTable => all[table] as AnyTable;
  const getOptions = drawScan(random);
  const kind = random.between(0, 9);
  if (kind === 0) return (value, context) => reader(context).has(value.key);
  if (kind <= 2) return (value, context) => reader(context).keys(getOptions(value, KEYS));
  const [index] = indexes;
  if (kind <= 6 && index !== undefined)
    return (value, context) => reader(context).by[index]?.(getOptions(value, TEXTS));
  const field = random.pick(Object.keys(fields) as [string]);
  return (value, context) => reader(context).row(value.key)[field];
}

function drawScan(random: Random): (value: Args, values: readonly string[]) => ScanOptions {
  const bound = random.pick(['none', 'equals', 'prefix', 'from', 'before', 'both']);
  const limit = random.pick([undefined, undefined, 1, 2]);
  const reverse = random.chance(0.4);
  return (input, values) => {
    const value = values.includes(input.key) ? input.key : input.text;
    const remaining = { ...(limit !== undefined && { limit }), reverse };
    if (bound === 'none') return remaining;
    if (bound === 'both') return { from: value, before: `${value}~`, ...remaining };
    return { [bound]: value, ...remaining };
  };
}

/** Alike for alike values: sets in some fixed order, queues as their items. */
function textOf(value: unknown): string {
  return JSON.stringify(value, (_, item: unknown) => {
    if (item instanceof Set) return [...(item as Set<unknown>)].map(String).toSorted();
    const { size, at } = (item ?? {}) as { readonly size?: unknown; readonly at?: unknown };
    if (typeof size !== 'number' || typeof at !== 'function' || Array.isArray(item)) return item;
    const view = item as { at(index: number): unknown };
    return Array.from({ length: size }, (_item, index) => view.at(index));
  });
}
