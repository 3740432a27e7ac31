/**
 * Checks the name and the arguments of an operation. Behind a gateway without a contract, clients
 * may send anything.
 */
import { CorrectableError, check } from '../../correctable/errors.ts';
import type { Access, Operation } from '../../correctable/operation.ts';
import { isRecord } from '../../correctable/validate.ts';
import { checkName } from '../../operations/check-name.ts';
import { put } from '../../operations/index.ts';

/** Keys that one read may have. */
const MAX_KEYS = 1_000;
const MICROSECONDS_PER_MS = 1_000;

export interface ParsedRead {
  readonly access: 'read';
  readonly keys: readonly string[];
  /** Whether the result is a list. */
  readonly isMany: boolean;
}

export interface ParsedWrite {
  readonly access: 'write';
  readonly key: string;
  readonly kind: 'value' | 'tombstone';
  readonly value: unknown;
  /** In microseconds; 0 if the value does not expire. */
  readonly ttl: number;
}

type Args = Readonly<Record<string, unknown>>;

const OPERATIONS: ReadonlyMap<string, Access> = new Map<string, Access>([
  ['get', 'read'],
  ['getMany', 'read'],
  ['put', 'write'],
  ['remove', 'write'],
]);

export function isSupported({ name, access }: Operation): boolean {
  return OPERATIONS.get(name) === access;
}

/** @throws CorrectableError `UNSUPPORTED`, or `INVALID_ARGUMENT` with the field */
export function parseOperation(operation: Operation): ParsedRead | ParsedWrite {
  const { name, access, args } = operation;
  if (!isSupported(operation))
    throw new CorrectableError('UNSUPPORTED', `The causal store has no ${access} "${name}".`);
  check(isRecord(args), 'args', `${name}: give an object`);
  if (name === 'getMany') return { access: 'read', keys: parseKeys(args), isMany: true };
  const key = checkName(args['key'] as string, 'args.key');
  if (name === 'get') return { access: 'read', keys: [key], isMany: false };
  if (name === 'remove')
    return { access: 'write', key, kind: 'tombstone', value: undefined, ttl: 0 };
  return parsePut(key, args);
}

function parseKeys({ keys }: Args): readonly string[] {
  check(Array.isArray(keys), 'args.keys', 'give a list of keys');
  const advice = `give at most ${MAX_KEYS} keys, got ${keys.length}. Split the read`;
  check(keys.length <= MAX_KEYS, 'args.keys', advice);
  return keys.map((key: unknown, at) => checkName(key as string, `args.keys[${at}]`));
}

function parsePut(key: string, { value, ttlMs }: Args): ParsedWrite {
  // The builder checks the time.
  put(key, value, { ttlMs: ttlMs as number | undefined });
  const ttl = Math.ceil(((ttlMs as number | undefined) ?? 0) * MICROSECONDS_PER_MS);
  return { access: 'write', key, kind: 'value', value, ttl };
}
