/**
 * The operations of pages on the store behind the cache, and the options that the application gives
 * to the cache.
 */
import type { CachedWrite } from '../../../src/bindings/cache/options.ts';
import type { Operation } from '../../../src/correctable/operation.ts';
import { get, getMany, put } from '../../../src/operations/index.ts';

/** The objects of the store. Nothing of the card may be cached. */
export const OBJECTS = ['a', 'b', 'card'] as const;
export type ObjectName = (typeof OBJECTS)[number];

/**
 * The result of a read: its user, the read, and for each object the number of the write that it
 * shows.
 */
export interface Shown {
  readonly by: string;
  readonly read: string;
  readonly seen: Readonly<Partial<Record<ObjectName, number>>>;
}

/** A read of the application. */
export interface ReadKind {
  readonly name: string;
  readonly operation: Operation<Shown>;
  readonly objects: readonly ObjectName[];
  /**
   * The objects that the cache uses as the dependencies of the read; `undefined` for all objects.
   */
  readonly touches: readonly string[] | undefined;
}

const both = ['a', 'b'] as const;
const read = (name: string, key?: string): Operation<Shown> => ({
  name,
  args: {},
  access: 'read',
  ...(key !== undefined && { key }),
});

const ofOne = (object: ObjectName): ReadKind[] => [
  {
    name: `get ${object}`,
    operation: get<Shown>(object) as Operation<Shown>,
    objects: [object],
    touches: [object],
  },
  // As docs/bindings/write-your-own.md writes it: the object in `key` alone.
  {
    name: `count ${object}`,
    operation: read('count', object),
    objects: [object],
    touches: [object],
  },
];

const many = (objects: readonly ObjectName[]): ReadKind => ({
  name: `getMany ${objects.join(' ')}`,
  operation: getMany(objects) as unknown as Operation<Shown>,
  objects,
  touches: objects,
});

/** Reads both objects. The result of an update of one of them contains this read. */
const ROW: ReadKind = { name: 'row', operation: read('row'), objects: both, touches: both };

export const READS: readonly ReadKind[] = [
  ...ofOne('a'),
  ...ofOne('b'),
  many(['a', 'b']),
  many(['a']),
  ROW,
  { name: 'feed', operation: read('feed'), objects: both, touches: undefined },
  {
    name: 'get card',
    operation: get('card') as Operation<Shown>,
    objects: ['card'],
    touches: ['card'],
  },
];

export const SECRET: ReadKind = READS.at(-1)!;

/**
 * The kinds of updates: of one object, of one that decides a read of two, of two, of any; of the
 * card.
 */
export const UPDATES = ['put a', 'put b', 'set a', 'set b', 'swap', 'reset', 'put card'] as const;
export type UpdateName = (typeof UPDATES)[number];

/** An update of the application. */
export interface UpdateKind {
  readonly name: UpdateName;
  readonly objects: readonly ObjectName[];
  /** The read whose content is in the result of the update, with the versions of that read. */
  readonly decides: ReadKind | undefined;
}

const OBJECTS_OF: Record<UpdateName, readonly ObjectName[]> = {
  'put a': ['a'],
  'put b': ['b'],
  'set a': ['a'],
  'set b': ['b'],
  swap: both,
  reset: both,
  'put card': ['card'],
};

export function updateKind(name: UpdateName): UpdateKind {
  const objects = OBJECTS_OF[name];
  const [verb, object] = name.split(' ');
  const decided = verb === 'put' ? `get ${object}` : verb === 'set' ? 'row' : undefined;
  return { name, objects, decides: READS.find((item) => item.name === decided) };
}

/** Returns an update by a user that writes `numbers`, one number to each of its objects. */
export function updateOf(kind: UpdateKind, numbers: readonly number[], by: string): Operation {
  const [first] = kind.objects;
  const [verb] = kind.name.split(' ');
  if (verb === 'put')
    return put(first!, {
      by,
      read: `get ${first}`,
      seen: { [first!]: numbers[0]! },
    } satisfies Shown);
  if (verb === 'set') return { name: 'set', args: { [first!]: numbers[0]! }, access: 'write' };
  if (verb === 'swap') return { name: 'swap', args: { keys: kind.objects }, access: 'write' };
  return { name: 'reset', args: {}, access: 'write' };
}

/** The options that the application gives to the cache. */
export const HINTS = {
  touches({ name, args, key }: Operation): readonly string[] | undefined {
    if (name === 'row') return both;
    if (name === 'set') return Object.keys(args as object);
    const { keys } = args as { readonly keys?: readonly string[] };
    return keys ?? (key === undefined ? undefined : [key]);
  },
  writeThrough({ name, args, key }: Operation, result: unknown): CachedWrite | undefined {
    if (name === 'set') return { operation: ROW.operation, value: result };
    if (name !== 'put' || key === undefined) return undefined;
    return { operation: get(key), value: (args as { readonly value: unknown }).value };
  },
  isCacheable: ({ key }: Operation): boolean => key !== 'card',
};
