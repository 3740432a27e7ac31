/**
 * What a memory binding takes. Behind a gateway without a contract, names, effects and arguments are whatever a client
 * claims: they are looked at once, at the door, and what is executed later is a copy of what was found good.
 */
import { CorrectableError } from '../../correctable/errors.ts';
import type { Access, Operation } from '../../correctable/operation.ts';
import { requireName } from '../../operations/names.ts';

interface Kind {
  readonly effect: Access;
  /** The arguments without what does not belong to them. */
  readonly argsOf: (given: Given) => object;
}

/** What came, of which nothing is known. */
interface Given {
  readonly key?: unknown;
  readonly keys?: unknown;
  readonly value?: unknown;
  readonly queue?: unknown;
  readonly item?: unknown;
}

const queueOf = ({ queue }: Given): object => ({ queue: nameOf(queue, 'args.queue') });

const KINDS: ReadonlyMap<string, Kind> = new Map<string, Kind>([
  ['get', { effect: 'read', argsOf: ({ key }) => ({ key: nameOf(key, 'args.key') }) }],
  ['getMany', { effect: 'read', argsOf: ({ keys }) => ({ keys: namesOf(keys) }) }],
  ['put', { effect: 'update', argsOf: ({ key, value }) => ({ key: nameOf(key, 'args.key'), value }) }],
  ['enqueue', { effect: 'update', argsOf: ({ queue, item }) => ({ queue: nameOf(queue, 'args.queue'), item }) }],
  ['dequeue', { effect: 'update', argsOf: queueOf }],
  ['peek', { effect: 'read', argsOf: queueOf }],
]);

/** Whether there is such an operation, with this effect. */
export function isKnown({ name, effect }: Operation): boolean {
  return KINDS.get(name)?.effect === effect;
}

/**
 * The operation as it is executed.
 *
 * @throws CorrectableError `UNSUPPORTED` for an operation that there is not; `INVALID_ARGUMENT` with the field
 */
export function accept({ name, effect, args }: Operation): Operation {
  const kind = KINDS.get(name);
  if (kind?.effect !== effect) {
    throw new CorrectableError('UNSUPPORTED', `The memory binding has no ${effect} "${name}"`);
  }
  if (typeof args !== 'object' || args === null) {
    throw new CorrectableError('INVALID_ARGUMENT', `${name}: args: give an object`, { field: 'args' });
  }
  return { name, effect, args: kind.argsOf(args) };
}

function nameOf(given: unknown, field: string): string {
  return requireName(given as string, field);
}

function namesOf(given: unknown): readonly string[] {
  if (Array.isArray(given)) return given.map((key: unknown, at) => nameOf(key, `args.keys[${at}]`));
  throw new CorrectableError('INVALID_ARGUMENT', 'args.keys: give a list of keys', { field: 'args.keys' });
}
