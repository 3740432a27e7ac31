/** COR-7: what "the same value" means, however deep or large it is. */
import { runInNewContext, runInThisContext } from 'node:vm';
import { expect, test, vi } from 'vitest';
import { all, structurallyEqual } from '../../../src/index.ts';
import { manual } from './support.ts';

/** A list of so many links, one in the other. */
function chained(length: number, end: unknown = null): unknown {
  let list = end;
  for (let at = 0; at < length; at += 1) list = { next: list };
  return list;
}

test('deeper than any stack → compared all the same', () => {
  expect(structurallyEqual(chained(100_000), chained(100_000))).toBe(true);
  expect(structurallyEqual(chained(100_000, 1), chained(100_000, 2))).toBe(false);
  expect(structurallyEqual([chained(500, 1), 1], [chained(500, 1), 2])).toBe(false);
  expect(structurallyEqual(new Set([chained(500)]), new Set([chained(500)]))).toBe(true);
});

test('one comparison ends early → nothing of it is left for the next', () => {
  expect(
    structurallyEqual([chained(500, 1), chained(500, 1), 1], [chained(500, 2), chained(500, 2), 2]),
  ).toBe(false);
  expect(structurallyEqual([chained(500, 1)], [chained(500, 1)])).toBe(true);
  const throwing = {
    get a(): never {
      throw new Error('getter');
    },
  };
  expect(() =>
    structurallyEqual([chained(500, 1), throwing], [chained(500, 2), throwing, 1].slice(0, 2)),
  ).not.toThrow();
  expect(() => structurallyEqual([chained(500, 1), throwing], [chained(500, 2), { a: 1 }])).toThrow(
    'getter',
  );
  expect(structurallyEqual([chained(500, 1)], [chained(500, 1)])).toBe(true);
});

test('cycles, also below the depth at which pairs are compared later → compared, and it ends', () => {
  const cyclic = (length: number): unknown => {
    const end: { next?: unknown } = {};
    end.next = chained(length, end);
    return end;
  };
  expect(structurallyEqual(cyclic(3), cyclic(3))).toBe(true);
  expect(structurallyEqual(cyclic(700), cyclic(700))).toBe(true);
});

test('children that link back to what they are of → each is compared a few times', () => {
  let looks = 0;
  const family = (): unknown => {
    const parent: { self?: unknown; items?: unknown } = {};
    parent.self = parent;
    parent.items = Array.from({ length: 50 }, (_, id) => ({
      get id() {
        looks += 1;
        return id;
      },
      parent,
    }));
    return parent;
  };
  expect(structurallyEqual(family(), family())).toBe(true);
  expect(looks).toBeLessThan(75_000);
});

test('parts that are shared, level upon level → each pair is looked at a bounded number of times', () => {
  let looks = 0;
  const dag = (levels: number): object => {
    let value: object = {
      get leaf() {
        looks += 1;
        return 1;
      },
    };
    for (let level = 0; level < levels; level++) value = { left: value, right: value };
    return value;
  };
  expect(structurallyEqual(dag(40), dag(40))).toBe(true);
  expect(looks).toBeLessThan(400_000);
});

test('parts that are shared on one side alone, or many times → so too', () => {
  let shared: unknown = { leaf: 1 };
  let copies: [unknown, unknown] = [{ leaf: 1 }, { leaf: 1 }];
  let wide: unknown = { leaf: 1 };
  for (let level = 0; level < 40; level++) {
    shared = { left: shared, right: shared };
    copies = [
      { left: copies[0], right: copies[1] },
      { left: copies[0], right: copies[1] },
    ];
    wide = Array<unknown>(9).fill(wide);
  }
  expect(structurallyEqual(shared, copies[0])).toBe(true);
  expect(structurallyEqual(copies[0], shared)).toBe(true);
  expect(structurallyEqual(wide, structuredClone(wide))).toBe(true);
});

/** What takes so many looks that from then on assumptions are kept. */
const tiring = (): object[] => Array.from({ length: 100_002 }, () => ({}));
/**
 * What a new value keeps of the old one by reference, as those do that are never changed; sketches
 * see no difference.
 */
const [alice, bob] = [{ text: [['alice']] }, { text: [['bob']] }];
const marked = (caller: object, kind: number): object => ({ who: caller, mark: [[[{ kind }]]] });
const old = (): unknown => new Set([marked(alice, 1), marked(alice, 2)]);
const nested = (value: unknown, depth: number): unknown => {
  let outer = value;
  for (let level = 0; level < depth; level++) outer = [outer];
  return outer;
};

test.each([
  ['the first that looks alike', marked(bob, 2), marked(alice, 1), false],
  ['the other', marked(alice, 1), marked(bob, 2), false],
  ['none', marked(alice, 2), marked(alice, 1), true],
])(
  '%s of a set has another part, after many looks → what a candidate assumed is forgotten',
  (_, item, other, isEqual) => {
    const now = new Set([item, other]);
    expect(structurallyEqual([tiring(), old()], [tiring(), now])).toBe(isEqual);
    expect(structurallyEqual([tiring(), now], [tiring(), old()])).toBe(isEqual);
    expect(structurallyEqual(nested(old(), 9), nested(now, 9))).toBe(isEqual);
    expect(structurallyEqual(nested(now, 9), nested(old(), 9))).toBe(isEqual);
  },
);

test.each([0, 9, 250, 253, 254, 255, 256, 257, 260, 511, 512])(
  'a set in another order, %i deep → its items are compared to their end, one with each',
  (depth) => {
    const inOrder = new Set([marked(alice, 1), marked(alice, 2), marked(bob, 1)]);
    const reversed = [...inOrder].map((item) => structuredClone(item)).toReversed();
    expect(structurallyEqual(nested(inOrder, depth), nested(new Set(reversed), depth))).toBe(true);
    const changed = [marked(bob, 2), ...reversed.slice(1)];
    expect(structurallyEqual(nested(inOrder, depth), nested(new Set(changed), depth))).toBe(false);
  },
);

test('sets in sets, deeper than any stack → compared all the same', () => {
  const sets = (end: unknown): unknown => {
    let value = end;
    for (let level = 0; level < 20_000; level++) value = new Set([[value]]);
    return value;
  };
  expect(structurallyEqual(sets(1), sets(1))).toBe(true);
  expect(structurallyEqual(sets(1), sets(2))).toBe(false);
});

test('sets and maps whose items are objects → equal by content in any order; each is looked at few times', () => {
  let looks = 0;
  const rows = (count: number, last = 0) =>
    Array.from({ length: count }, (_, id) => ({
      get id() {
        looks += 1;
        return id;
      },
      more: { last: id === count - 1 ? last : 0 },
    }));
  const count = 2_000;
  expect(structurallyEqual(new Set(rows(count)), new Set(rows(count).toReversed()))).toBe(true);
  expect(looks).toBeLessThan(20 * count);
  expect(structurallyEqual(new Set(rows(count)), new Set(rows(count, 1)))).toBe(false);
  const map = (items: object[]) => new Map(items.map((item, at) => [item, at % 2]));
  expect(structurallyEqual(map([{ a: 1 }, { b: 2 }]), map([{ a: 1 }, { b: 2 }]))).toBe(true);
  expect(structurallyEqual(map([{ a: 1 }, { b: 2 }]), map([{ b: 2 }, { a: 1 }]))).toBe(false);
  expect(structurallyEqual(new Set([{ a: 1, b: 2 }]), new Set([{ b: 2, a: 1 }]))).toBe(true);
  expect(structurallyEqual(new Set([{ a: 1 }, { a: 1 }]), new Set([{ a: 1 }, { a: 2 }]))).toBe(
    false,
  );
});

/**
 * Bytes of which the first 60 and the last 60 are the same for all, and of which 8 in between say
 * which they are.
 */
const key = (id: number): Uint8Array =>
  new Uint8Array(128).fill(id & 255, 60, 64).fill(id >> 8, 64, 68);

test.each<[string, (id: number) => object]>([
  ['dates', (id) => new Date(id)],
  ['bytes', (id) => Uint8Array.of(id >> 8, id & 255)],
  ['bytes that differ in the middle', key],
  ['bytes, those of Node among them', (id) => (id % 2 ? Buffer.from(key(id)) : key(id))],
  ['buffers', (id) => Uint16Array.of(id).buffer],
  [
    'bytes that differ at their end',
    (id) => Uint8Array.from([...new Uint8Array(300), id >> 8, id & 255]),
  ],
  ['numbers of another kind', (id) => Float64Array.of(id)],
  ['sets', (id) => new Set([{ id }, 0])],
  ['maps', (id) => new Map([['id', id]])],
  ['long lists', (id) => [...new Uint8Array(100), id]],
  ['lists of dates', (id) => [new Date(id)]],
])('sets of %s → equal by content in any order; each is compared few times', (_what, of) => {
  const compared = vi.spyOn(Object, 'is');
  const count = 600;
  const items = (at = 0): object[] => Array.from({ length: count }, (_, id) => of(id + at));
  const answers = [new Set(items().toReversed()), new Set(items(1))].map((other) =>
    structurallyEqual(new Set(items()), other),
  );
  const { length } = compared.mock.calls;
  compared.mockRestore();
  expect(answers).toEqual([true, false]);
  // Each byte is compared with another one.
  expect(length).toBeLessThan(400 * count);
});

test('a set of what shares a large part → that is not looked at for each', () => {
  const looked = vi.spyOn(Uint8Array.prototype, 'join');
  const large = new Uint8Array(1_000_000);
  const many = new Set(Array.from({ length: 1_000_000 }, (_, id) => id));
  const rows = (): object[] => Array.from({ length: 100 }, (_, id) => ({ id, large, many }));
  expect(structurallyEqual(new Set(rows()), new Set(rows().toReversed()))).toBe(true);
  for (const { length } of looked.mock.contexts as Uint8Array[]) expect(length).toBeLessThan(1_000);
  looked.mockRestore();
});

test('the parts of a join have deep values → the join is final', async () => {
  const parts = [manual(), manual()] as const;
  const joined = all([parts[0].c, parts[1].c]);
  for (const level of ['weak', 'strong'] as const) {
    for (const { sink } of parts) sink.view(chained(20_000), level);
  }
  expect(await joined).toHaveLength(2);
  expect(joined.latest).toMatchObject({ level: 'strong', confirms: true });
});

class Money {
  readonly cents: number;
  constructor(cents: number) {
    this.cents = cents;
  }
}
class Zoned extends Date {
  readonly zone: string;
  constructor(zone: string) {
    super(0);
    this.zone = zone;
  }
}
class Tagged extends Map<string, number> {}
class Route extends Array<string> {}
class Currencies extends Set<string> {}
class Lengths extends Float64Array {}
class Key extends Uint8Array {}
const NOTHING = Object.create(null) as object;
const bytes = (...items: number[]): Uint8Array => Uint8Array.from(items);
const bare = (fields: object): object => Object.assign(Object.create(null) as object, fields);

test.each<[what: string, a: unknown, b: unknown, isEqual: boolean]>([
  ['NaN', [Number.NaN], [Number.NaN], true],
  ['0 and -0', [0], [-0], false],
  ['keys in another order', { a: 1, b: 2 }, { b: 2, a: 1 }, true],
  ['a key more', { a: 1 }, { a: 1, b: 2 }, false],
  ['a key that is undefined, and none', { a: undefined, b: 1 }, { c: undefined, b: 1 }, false],
  [
    'a key of which the other has an inherited one',
    { toString: Object.prototype.toString },
    { x: 1 },
    false,
  ],
  ['that, where the value is no function', JSON.parse('{"__proto__":{}}'), { x: 1 }, false],
  ['a key that all inherit, of both', { toString: 1 }, { toString: 1 }, true],
  ['an item more', [1], [1, 2], false],
  ['a list and an object', [], {}, false],
  ['a list and an object like it', [1], { 0: 1, length: 1 }, false],
  ['no prototype', bare({ a: 1 }), bare({ a: 1 }), true],
  ['a prototype and none', { a: 1 }, bare({ a: 1 }), true],
  ['a prototype and none, in an item', new Set([{ a: 1 }]), new Set([bare({ a: 1 })]), true],
  [
    'none, with a key that the other inherits',
    bare({ toString: Object.prototype.toString }),
    { x: 1 },
    false,
  ],
  ['none, and an instance of a class', bare({}), new (class {})(), false],
  ['instances of a class', new Money(1), new Money(1), false],
  ['that, where the value is like the inherited one', { ['__proto__']: bare({}) }, { x: 1 }, false],
  ['what extends dates', new Zoned('UTC'), new Zoned('Asia/Tokyo'), false],
  ['what extends maps', new Tagged(), new Tagged(), false],
  ['what extends lists', Route.of('a'), Route.of('a'), false],
  ['a list, and what extends one', ['a'], Route.of('a'), false],
  ['what extends sets', new Currencies(), new Currencies(), false],
  ['what extends numbers', Lengths.of(1), Lengths.of(1), false],
  ['what extends bytes', Key.of(1), Key.of(1), false],
  ['bytes, and what extends them', Key.of(1), bytes(1), false],
  ['those of Node', Buffer.from([1]), Buffer.from([1]), true],
  ['dates', new Date(1), new Date(1), true],
  ['dates that differ', new Date(1), new Date(2), false],
  ['a date and a map', new Date(1), new Map(), false],
  ['maps whose values differ', new Map([['a', 1]]), new Map([['a', 2]]), false],
  ['sets of which one has more', new Set([1]), new Set([1, 2]), false],
  ['a set and a map', new Set(), new Map(), false],
  [
    'items that are equal to one another',
    new Set([{ a: 1 }, { a: 1 }]),
    new Set([{ a: 1 }, { a: 2 }]),
    false,
  ],
  ['bytes', bytes(1, 2), bytes(1, 2), true],
  ['bytes that differ', bytes(1, 2), bytes(1, 3), false],
  ['part of a buffer', bytes(1, 2, 3).subarray(1), bytes(2, 3), true],
  ['bytes, those of Node too', bytes(1, 2), Buffer.from([1, 2]), true],
  ['numbers of another kind', Float64Array.of(1), Float64Array.of(2), false],
  ['part of numbers', Float64Array.of(1, 2).subarray(1), Float64Array.of(2), true],
  ['a buffer', bytes(1).buffer, bytes(1).buffer, true],
  ['what stands on nothing', Object.create(NOTHING), Object.create(NOTHING), false],
])('%s → from both sides the same', (_, a, b, isEqual) => {
  expect([structurallyEqual(a, b), structurallyEqual(b, a)]).toEqual([isEqual, isEqual]);
});

/** Values of any realm, this one included, as code. */
const PLAIN = [
  '{ a: 1, b: { c: [2] } }',
  'Object.assign(Object.create(null), { a: 1 })',
  '["a", { b: 1 }]',
  'new Date(5)',
  'new Map([[{ k: 1 }, { v: 1 }]])',
  'new Set([{ a: new Date(1) }, new Uint8Array([1])])',
  'new Uint8Array([1, 2])',
  'new Float64Array([1.5])',
  'new BigInt64Array([1n])',
  'new DataView(new ArrayBuffer(2))',
  'new ArrayBuffer(2)',
];
const OF_CLASSES = [
  'new (class Money {})()',
  'new (class Bare extends null { constructor() { return Object.create(new.target.prototype); } })()',
  'new (class Zoned extends Date {})(5)',
  'new (class Tagged extends Map {})()',
  'new (class Currencies extends Set {})()',
  'new (class Route extends Array {})()',
  'new (class Key extends Uint8Array {})(2)',
  'new (class Page extends ArrayBuffer {})(2)',
  'new (class Window extends DataView {})(new ArrayBuffer(2))',
  'new (class Fake { get [Symbol.toStringTag]() { return "Map"; } })()',
  'new (class Fake { get [Symbol.toStringTag]() { return "Date"; } })()',
  'Object.create({})',
  'new Error("e")',
  '/a/',
  'new String("a")',
];
const here = (code: string): unknown => runInThisContext(`(${code})`);
const elsewhere = (code: string): unknown => runInNewContext(`(${code})`);

test.each(PLAIN)(
  '%s of another realm → equal to its like of this realm and of a third, to no other',
  (code) => {
    for (const other of [here(code), elsewhere(code)]) {
      expect(structurallyEqual(elsewhere(code), other)).toBe(true);
      expect(structurallyEqual(other, elsewhere(code))).toBe(true);
    }
    for (const different of PLAIN.filter((item) => item !== code)) {
      expect(structurallyEqual(elsewhere(code), here(different))).toBe(false);
    }
  },
);

test.each(OF_CLASSES)('%s of another realm → equal to nothing but itself', (code) => {
  const item = elsewhere(code);
  expect(structurallyEqual(item, item)).toBe(true);
  expect(structurallyEqual(item, elsewhere(code))).toBe(false);
  expect(structurallyEqual(item, here(code))).toBe(false);
  for (const plain of PLAIN) expect(structurallyEqual(item, here(plain))).toBe(false);
});

test('dates while a test framework replaces their class → compared by time', () => {
  vi.stubGlobal('Date', class ClockDate extends Date {});
  try {
    expect(structurallyEqual(new Date(5), new Date(5))).toBe(true);
    expect(structurallyEqual(new Date(5), elsewhere('new Date(5)'))).toBe(true);
  } finally {
    vi.unstubAllGlobals();
  }
});
