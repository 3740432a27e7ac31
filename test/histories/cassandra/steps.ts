/** What a caller does next: each kind of write and read, on keys that others use too. */
import { get, getMany, put } from '../../../src/operations/index.ts';
import type { Random } from '../../../src/server/service/collections/random.ts';
import type { Call } from '../history.ts';
import type { Actor, Asked } from './actor.ts';
import type { KeyAllocator } from './key-allocator.ts';
import type { Entry } from './inputs.ts';
import { plainShape, plainTyped, toPlainValue, type TypedRow } from './plain-values.ts';
import type { Profile } from './tables.ts';
import { statements } from './statements.ts';

export interface Caller {
  readonly actor: Actor;
  readonly board: KeyAllocator;
}

export type Step = (caller: Caller) => Promise<unknown>;

const KEPT_MS = 3_000;
/** Some do not wait long enough for anything, and some for nothing that comes late. */
const HASTY_SHARE = 0.03;
const HASTY_MS = 60;

type Keys = (caller: Caller) => string;

const sharedKey =
  (kind: string): Keys =>
  ({ actor, board }) =>
    board.shared(actor.seat.place.profile.name, kind, actor.random);
const registerKey: Keys = (caller) => {
  const { actor, board } = caller;
  return actor.random.chance(0.3)
    ? board.own(actor.seat.place.profile.name, actor.session)
    : sharedKey('value')(caller);
};
/** Written by conditions alone. */
const lockKey = sharedKey('lock');
const listKey = sharedKey('list');
const counterKey = sharedKey('counter');
const typedKey = sharedKey('typed');

const hows = ['invoke', 'invoke', 'invoke', 'invokeStrong', 'invokeWeak'] as const;

async function ask({ actor, board }: Caller, requested: Asked): Promise<Call> {
  const { random } = actor;
  const isHasty = random.chance(HASTY_SHARE);
  const call = await actor.call({
    ...requested,
    ...(isHasty && { timeoutMs: random.between(1, HASTY_MS) }),
  });
  if (call.outcome === 'success' && call.output !== false) {
    for (const { key, value } of requested.input.writes ?? [])
      if (value !== null) board.wrote(key, value);
  }
  return call;
}

const writing =
  (kind: 'put' | 'insert' | 'update' | 'keep', keys: Keys = registerKey): Step =>
  (caller) =>
    writeOne(caller, kind, keys(caller));

export function writeOne(
  caller: Caller,
  kind: 'put' | 'insert' | 'update' | 'keep',
  key: string,
): Promise<Call> {
  const value = caller.board.value(caller.actor.random);
  const operation =
    kind === 'put' ? put(key, value) : statements[kind]({ key, value: JSON.stringify(value) });
  const keepMs = kind === 'keep' ? { keepMs: KEPT_MS } : {};
  return ask(caller, { kind, key, input: { writes: [{ key, value }], ...keepMs }, operation });
}

export function removeOne(caller: Caller, key: string): Promise<Call> {
  const input = { writes: [{ key, value: null }] };
  return ask(caller, { kind: 'remove', key, input, operation: statements.remove({ key }) });
}

/** Two keys in one batch, written both, or one deleted. */
const batching =
  (kind: 'batch' | 'replace'): Step =>
  (caller) => {
    const [a, b] = [registerKey(caller), registerKey(caller)];
    if (a === b) return writeOne(caller, 'put', a);
    const value = caller.board.value(caller.actor.random);
    const writes: Entry[] = [
      { key: a, value: kind === 'batch' ? value : null },
      { key: b, value },
    ];
    const operation = statements[kind]({ a, b, value: JSON.stringify(value) });
    return ask(caller, { kind, key: a, input: { writes }, operation });
  };

const creating =
  (kind: 'create' | 'claim', keys: Keys = registerKey): Step =>
  (caller) => {
    const [key, value] = [keys(caller), caller.board.value(caller.actor.random)];
    const operation = statements[kind]({ key, value: JSON.stringify(value) });
    // A claim that was made has an answer that does not fit: what fits is a refusal.
    const plain = kind === 'claim' ? { plain: () => false } : {};
    return ask(caller, {
      kind,
      key,
      input: { writes: [{ key, value }], expected: null },
      operation,
      ...plain,
    });
  };

const swapping =
  (keys: Keys = registerKey): Step =>
  (caller) => {
    const [key, value] = [keys(caller), caller.board.value(caller.actor.random)];
    const expected = caller.board.latest(key);
    if (expected === undefined) return creating('create', () => key)(caller);
    const texts = { value: JSON.stringify(value), expected: JSON.stringify(expected) };
    const operation = statements.swap({ key, ...texts });
    return ask(caller, {
      kind: 'swap',
      key,
      input: { writes: [{ key, value }], expected },
      operation,
    });
  };

const getting =
  (keys: Keys = registerKey): Step =>
  (caller) =>
    readOne(caller, keys(caller), caller.actor.random.pick(hows));

export function readOne(
  caller: Caller,
  key: string,
  how: Asked['how'] = 'invoke',
  more: object = {},
): Promise<Call> {
  const plain = (value: unknown): unknown => [toPlainValue(value)];
  return ask(caller, {
    kind: 'get',
    key,
    input: { reads: [key], ...more },
    operation: get(key),
    how,
    plain,
  });
}

/** One key or several: to Cassandra these are two kinds of read. */
const gettingMany: Step = (caller) => {
  const { random } = caller.actor;
  return readMany(caller, random.chance(0.25) ? 1 : random.between(2, 4));
};

export function readMany(caller: Caller, count: number): Promise<Call> {
  const reads = [...new Set(Array.from({ length: count }, () => registerKey(caller)))];
  const plain = (values: unknown): unknown => (values as unknown[]).map(toPlainValue);
  const [key = ''] = reads;
  return ask(caller, { kind: 'getMany', key, input: { reads }, operation: getMany(reads), plain });
}

const readingRow: Step = (caller) => {
  const key = registerKey(caller);
  const plain = (text: unknown): unknown => [
    typeof text === 'string' ? (JSON.parse(text) as string) : toPlainValue(text),
  ];
  const how = caller.actor.random.pick(hows);
  return ask(caller, {
    kind: 'row',
    key,
    input: { reads: [key] },
    operation: statements.row({ key }),
    how,
    plain,
  });
};

/** Begun together: what the reads may show is decided by what the session had seen before. */
export const putAndGet: Step = (caller) => {
  const key = registerKey(caller);
  const read = (): Promise<Call> => readOne(caller, key);
  return Promise.all([read(), writeOne(caller, 'put', key), read(), read()]);
};

/** Several writes of one key without waiting for any: their order is that of their stamps. */
const burst: Step = async (caller) => {
  const { random } = caller.actor;
  const key = registerKey(caller);
  const kinds = Array.from({ length: random.between(2, 5) }, () =>
    random.pick(['put', 'insert', 'update', 'remove']),
  );
  const calls = kinds.map((kind) =>
    kind === 'remove'
      ? removeOne(caller, key)
      : writeOne(caller, kind as 'put' | 'insert' | 'update', key),
  );
  await Promise.all(calls);
  await readOne(caller, key, 'invokeStrong');
};

const appending =
  (kind: 'append' | 'appendBoth' | 'appendIn'): Step =>
  (caller) => {
    const [a, b] = [listKey(caller), listKey(caller)];
    const element = `e${caller.board.number()}`;
    const isOne = kind === 'append' || a === b;
    const items = [element];
    const operation = isOne
      ? statements.append({ key: a, items })
      : statements[kind]({ a, b, items });
    const appends = (isOne ? [a] : [a, b]).map((key) => ({ key, element }));
    return ask(caller, { kind: isOne ? 'append' : kind, key: a, input: { appends }, operation });
  };

const readingList: Step = (caller) => {
  const key = listKey(caller);
  const plain = (items: unknown): unknown => [items ?? []];
  const how = caller.actor.random.pick(hows);
  return ask(caller, {
    kind: 'list',
    key,
    input: { lists: [key] },
    operation: statements.list({ key }),
    how,
    plain,
  });
};

const counting =
  (kind: 'count' | 'countBoth'): Step =>
  (caller) => {
    const [a, b] = [counterKey(caller), counterKey(caller)];
    const isOne = kind === 'count' || a === b;
    const operation = isOne ? statements.count({ key: a }) : statements.countBoth({ a, b });
    return ask(caller, {
      kind: isOne ? 'count' : kind,
      key: a,
      input: { counts: isOne ? [a] : [a, b] },
      operation,
    });
  };

/** A decimal of few digits, often of negative scale, and two times within one second. */
const writingTyped: Step = (caller) => {
  const key = typedKey(caller);
  const n = caller.board.number();
  const row: TypedRow = {
    d: caller.actor.random.pick([`${n}E+3`, `${n}.50`]),
    m: [
      [new Date(n * 1_000), 'first'],
      [new Date(n * 1_000 + 1), 'second'],
    ],
  };
  const input = { writes: [{ key, value: plainTyped(row) }] };
  return ask(caller, {
    kind: 'writeTyped',
    key,
    input,
    operation: statements.writeTyped({ key, ...row }),
  });
};

/** Values that the columns do not take. */
const writingNonsense: Step = (caller) => {
  const key = typedKey(caller);
  const d = caller.actor.random.pick(['12,50', 'many', '']);
  const m = [[new Date(0), 'never']];
  const input = { writes: [{ key, value: `nonsense ${caller.board.number()}` }] };
  return ask(caller, {
    kind: 'writeNonsense',
    key,
    input,
    operation: statements.writeTyped({ key, d, m }),
  });
};

const readingTyped: Step = (caller) => {
  const key = typedKey(caller);
  const plain = (row: unknown): unknown => [plainTyped(row)];
  const how = caller.actor.random.pick(hows);
  return ask(caller, {
    kind: 'typed',
    key,
    input: { reads: [key] },
    operation: statements.typed({ key }),
    how,
    plain,
  });
};

export const SHAPE_KEY = 'quorum/shape';

const readingShape: Step = (caller) => {
  const operation = statements.shape({ key: SHAPE_KEY });
  const how = caller.actor.random.pick(hows);
  return ask(caller, {
    kind: 'shape',
    key: SHAPE_KEY,
    input: { isShape: true },
    operation,
    how,
    plain: plainShape,
  });
};

type Weighted = readonly (readonly [weight: number, step: Step])[];

const registers: Weighted = [
  [14, writing('put')],
  [6, writing('insert')],
  [6, writing('update')],
  [6, (caller) => removeOne(caller, registerKey(caller))],
  [3, writing('keep')],
  [5, batching('batch')],
  [3, batching('replace')],
  [3, creating('create')],
  [4, swapping()],
  [1, creating('claim')],
  [16, getting()],
  [9, gettingMany],
  [6, readingRow],
  [6, putAndGet],
  [5, burst],
];
const locks: Weighted = [
  [2, creating('create', lockKey)],
  [1, creating('claim', lockKey)],
  [6, swapping(lockKey)],
  [5, getting(lockKey)],
];
const lists: Weighted = [
  [4, appending('append')],
  [3, appending('appendBoth')],
  [3, appending('appendIn')],
  [6, readingList],
];
const typed: Weighted = [
  [4, writingTyped],
  [1, writingNonsense],
  [6, readingTyped],
];
const counters: Weighted = [
  [2, counting('count')],
  [2, counting('countBoth')],
];
const shapes: Weighted = [[8, readingShape]];

const STEPS: Readonly<Record<Profile['name'], Weighted>> = {
  quorum: [...registers, ...locks, ...lists, ...typed, ...shapes],
  quick: registers,
  everyone: [...registers, ...locks, ...lists],
  thin: [...lists, ...counters],
};

/** What this caller does next. */
export function drawStep({ name }: Profile, random: Random): Step {
  const steps = STEPS[name];
  let left = random.fraction() * steps.reduce((sum, [weight]) => sum + weight, 0);
  for (const [weight, step] of steps) {
    left -= weight;
    if (left < 0) return step;
  }
  return getting();
}
