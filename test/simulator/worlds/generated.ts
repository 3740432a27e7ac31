/**
 * A service that is drawn from a seed: tables, shadow operations, and generators that read this and that and reply with
 * all that they have read, so that whatever is not as it should be comes to light. Colours are right by construction:
 * blue only where every effect may be, and no invariant could be broken.
 */
import { z } from 'zod/v4';
import { defineContract } from '../../../src/protocol/contract/contract.ts';
import type { Effect } from '../../../src/server/records/effect.ts';
import type { ScanOptions } from '../../../src/server/records/key-range.ts';
import type { Chosen } from '../../../src/server/records/reply.ts';
import { FIELD_KINDS } from '../../../src/server/service/fields/kinds.ts';
import { defineService } from '../../../src/server/service/service.ts';
import type { Service } from '../../../src/server/service/service.ts';
import type { ShadowOperation } from '../../../src/server/service/shadow-operation.ts';
import { cell, counter, log, queue, register, set, stock } from '../../../src/server/service/tables.ts';
import type { Field, Table } from '../../../src/server/service/tables.ts';
import { Random } from '../../../src/server/collections/random.ts';
import { observedTraits } from '../../../src/testing/simulator/world.ts';
import type { World } from '../../../src/testing/simulator/world.ts';

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
  readonly shadow: Readonly<Record<string, (args: Args, reply?: unknown) => Chosen<unknown>>>;
  readonly scratchpad: { apply(chosen: Chosen<unknown>): unknown; discard(): void };
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

const FIELDS = { counter, register, set, log, cell, queue, stock } as const;
const KINDS = Object.keys(FIELDS) as [keyof typeof FIELDS];
const RED_ONLY: ReadonlySet<string> = new Set(['cell', 'queue', 'stock']);
const KEYS = ['a', 'ab', 'b', 'c'] as const;
const TEXTS = ['p', 'pq', 'q', 'r'] as const;
const args = z.object({ key: z.string(), other: z.string(), text: z.string(), number: z.number() });
const result = z.string();

/** The world of the service that this seed gives. */
export function generatedWorld(seed: number): World {
  const { service, operations } = generate(new Random(seed ^ 0x9e41));
  return {
    service,
    traits: observedTraits(service),
    draw: ({ random }) => {
      const [key, other, text] = [random.pick(KEYS), random.pick(KEYS), random.pick(TEXTS)];
      return { operation: random.pick(operations), args: { key, other, text, number: random.between(-1, 3) } };
    },
    checkers: () => [],
  };
}

function generate(random: Random): { readonly service: Service; readonly operations: [string, ...string[]] } {
  const tables: Record<string, Table> = {};
  for (let index = random.between(1, 2); index > 0; index -= 1) tables[`t${index}`] = drawTable(random);
  const parts = Array.from({ length: random.between(3, 6) }, () => drawParts(random, tables));
  const shadows = Object.fromEntries(parts.map((each, index) => [`s${index}`, each]));
  const specs: Record<string, object> = {};
  const generators: Record<string, unknown> = {};
  for (let index = random.between(3, 6); index > 0; index -= 1) {
    specs[`u${index}`] = { effect: 'update', args, result };
    generators[`u${index}`] = drawUpdate(random, tables, Object.keys(shadows) as [string], shadows);
  }
  specs['look'] = { effect: 'read', args, result };
  const reads = Array.from({ length: 4 }, () => drawRead(random, tables));
  generators['look'] = (given: Args, context: AnyContext) => textOf(reads.map((read) => read(given, context)));
  const contract = defineContract('generated', specs as never);
  const implementation = {
    tables,
    shadowOperations: (effects: Readonly<Record<string, AnyEffectTable>>) =>
      Object.fromEntries(Object.entries(shadows).map(([name, each]) => [name, shadowOf(each, effects)])),
    generators,
  };
  const service = defineService(contract, implementation as never) as unknown as Service;
  return { service, operations: Object.keys(specs) as [string] };
}

function drawTable(random: Random): Table {
  const fields: Record<string, Field> = {};
  for (let index = random.between(1, 3); index > 0; index -= 1)
    fields[`f${index}`] = (FIELDS[random.pick(KINDS)] as () => Field)();
  const canIndex = (name: string): boolean => FIELD_KINDS[(fields[name] as Field).kind].isIndexable === true;
  const indexes = Object.keys(fields).filter((name) => canIndex(name) && random.chance(0.7));
  return { fields, indexes, removable: random.chance(0.6) };
}

function drawParts(random: Random, tables: Readonly<Record<string, Table>>): readonly Part[] {
  return Array.from({ length: random.between(1, 2) }, () => drawPart(random, tables));
}

function drawPart(random: Random, tables: Readonly<Record<string, Table>>): Part {
  const table = random.pick(Object.keys(tables) as [string]);
  const { fields, removable } = tables[table] as Table;
  const keyOf = random.chance(0.8) ? (given: Args) => given.key : (given: Args) => given.other;
  if (random.chance(0.25)) {
    const isRemoval = removable && random.chance(0.7);
    const isRed = isRemoval && Object.values(fields).some(({ kind }) => RED_ONLY.has(kind));
    const make: Make = (effects, given) => effects[table]?.[isRemoval ? 'remove' : 'insert'](keyOf(given)) as Effect;
    return { isRed, makesResult: false, make };
  }
  const field = random.pick(Object.keys(fields) as [string]);
  const kind = fields[field]?.kind ?? '';
  const [action, valueOf] = drawAction(random, kind);
  const make: Make = (effects, given) => {
    const build = effects[table]?.row(keyOf(given))[field]?.[action] as (value: unknown) => Effect;
    return build(valueOf(given));
  };
  return { isRed: RED_ONLY.has(kind), makesResult: RED_ONLY.has(kind), make };
}

function drawAction(random: Random, kind: string): readonly [action: string, valueOf: (given: Args) => unknown] {
  const value = random.chance(0.7) ? (given: Args) => given.text : (given: Args) => given.number;
  switch (kind) {
    case 'counter':
      return ['add', (given) => given.number];
    case 'register':
      return ['write', value];
    case 'set':
      return [random.pick(['add', 'add', 'remove']), value];
    case 'log':
      return ['append', value];
    case 'cell':
      return ['assign', value];
    case 'stock':
      return [random.pick(['add', 'take']), (given) => Math.abs(given.number)];
    default:
      return random.chance(0.6) ? ['push', value] : ['pop', () => undefined];
  }
}

/** Red where a part has to be, and now and then where none has to. */
function shadowOf(parts: readonly Part[], effects: Readonly<Record<string, AnyEffectTable>>): ShadowOperation {
  const build = (given: Args): readonly Effect[] => parts.map(({ make }) => make(effects, given));
  const isRed = parts.some((part) => part.isRed) || parts.length > 1;
  const makesResult = parts.some((part) => part.makesResult);
  const reply = (results: readonly unknown[]): string => textOf(results);
  return { colour: isRed ? 'red' : 'blue', effects: build, ...(makesResult && { reply }) } as ShadowOperation;
}

function drawUpdate(
  random: Random,
  tables: Readonly<Record<string, Table>>,
  shadows: readonly [string, ...string[]],
  parts: Readonly<Record<string, readonly Part[]>>,
): unknown {
  const reads = Array.from({ length: random.between(0, 3) }, () => drawRead(random, tables));
  const [one, other, tried] = [random.pick(shadows), random.pick(shadows), random.pick(shadows)];
  const [triesChance, nothingAt] = [random.chance(0.3), random.between(0, 5)];
  const choose = (name: string, given: Args, { shadow }: AnyContext, reply: string): unknown =>
    (parts[name] as readonly Part[]).some(({ makesResult }) => makesResult)
      ? shadow[name]?.(given)
      : shadow[name]?.(given, reply);
  return (given: Args, context: AnyContext): unknown => {
    const seen = reads.map((read) => read(given, context));
    if (triesChance) {
      context.scratchpad.apply(choose(tried, given, context, '') as Chosen<unknown>);
      seen.push(...reads.map((read) => read(given, context)));
      if (given.number > 1) context.scratchpad.discard();
    }
    const reply = textOf(seen);
    const decision = [...reply].reduce((sum, each) => (sum * 31 + each.charCodeAt(0)) % 997, given.number + 1) % 6;
    if (reads.length > 0 && decision === nothingAt) return reply;
    return choose(decision % 2 === 0 ? one : other, given, context, reply);
  };
}

function drawRead(random: Random, tables: Readonly<Record<string, Table>>): Read {
  const table = random.pick(Object.keys(tables) as [string]);
  const { fields, indexes } = tables[table] as Table;
  const reader = ({ tables: all }: AnyContext): AnyTable => all[table] as AnyTable;
  const optionsOf = drawScan(random);
  const kind = random.between(0, 9);
  if (kind === 0) return (given, context) => reader(context).has(given.key);
  if (kind <= 2) return (given, context) => reader(context).keys(optionsOf(given, KEYS));
  const [index] = indexes;
  if (kind <= 6 && index !== undefined) return (given, context) => reader(context).by[index]?.(optionsOf(given, TEXTS));
  const field = random.pick(Object.keys(fields) as [string]);
  return (given, context) => reader(context).row(given.key)[field];
}

function drawScan(random: Random): (given: Args, values: readonly string[]) => ScanOptions {
  const bound = random.pick(['none', 'equals', 'prefix', 'from', 'before', 'both']);
  const limit = random.pick([undefined, undefined, 1, 2]);
  const reverse = random.chance(0.4);
  return (given, values) => {
    const value = values.includes(given.key) ? given.key : given.text;
    const rest = { ...(limit !== undefined && { limit }), reverse };
    if (bound === 'none') return rest;
    if (bound === 'both') return { from: value, before: `${value}~`, ...rest };
    return { [bound]: value, ...rest };
  };
}

/** Alike for alike values: sets in some fixed order, queues as their items. */
function textOf(value: unknown): string {
  return JSON.stringify(value, (_, each: unknown) => {
    if (each instanceof Set) return [...(each as Set<unknown>)].map(String).toSorted();
    const { size, at } = (each ?? {}) as { readonly size?: unknown; readonly at?: unknown };
    if (typeof size !== 'number' || typeof at !== 'function' || Array.isArray(each)) return each;
    const view = each as { at(index: number): unknown };
    return Array.from({ length: size }, (_item, index) => view.at(index));
  });
}
