/**
 * Behind a gateway without a contract, clients may send any name and arguments: only a checked copy
 * is executed.
 */
import { CorrectableError } from '../../correctable/errors.ts';
import type { Access, Operation } from '../../correctable/operation.ts';
import { checkName } from '../../operations/check-name.ts';

interface OperationKind {
  readonly access: Access;
  /** The arguments without what does not belong to them. */
  readonly readArgs: (value: InputArgs) => object;
}

/** What came, of which nothing is known. */
interface InputArgs {
  readonly key?: unknown;
  readonly keys?: unknown;
  readonly value?: unknown;
  readonly queue?: unknown;
  readonly item?: unknown;
}

const readQueue = ({ queue }: InputArgs): object => ({ queue: readName(queue, 'args.queue') });

const OPERATION_KINDS: ReadonlyMap<string, OperationKind> = new Map<string, OperationKind>([
  ['get', { access: 'read', readArgs: ({ key }) => ({ key: readName(key, 'args.key') }) }],
  ['getMany', { access: 'read', readArgs: ({ keys }) => ({ keys: readNames(keys) }) }],
  [
    'put',
    { access: 'write', readArgs: ({ key, value }) => ({ key: readName(key, 'args.key'), value }) },
  ],
  [
    'enqueue',
    {
      access: 'write',
      readArgs: ({ queue, item }) => ({ queue: readName(queue, 'args.queue'), item }),
    },
  ],
  ['dequeue', { access: 'write', readArgs: readQueue }],
  ['peek', { access: 'read', readArgs: readQueue }],
]);

export function isSupported({ name, access }: Operation): boolean {
  return OPERATION_KINDS.get(name)?.access === access;
}

/** The operation as it is executed. Throws `UNSUPPORTED` or `INVALID_ARGUMENT` with the field. */
export function validateOperation({ name, access, args }: Operation): Operation {
  const kind = OPERATION_KINDS.get(name);
  if (kind?.access !== access) {
    throw new CorrectableError('UNSUPPORTED', `The memory binding has no ${access} "${name}"`);
  }
  if (typeof args !== 'object' || args === null) {
    throw new CorrectableError('INVALID_ARGUMENT', `${name}: args: give an object`, {
      field: 'args',
    });
  }
  return { name, access, args: kind.readArgs(args) };
}

function readName(value: unknown, field: string): string {
  return checkName(value as string, field);
}

function readNames(value: unknown): readonly string[] {
  if (Array.isArray(value))
    return value.map((key: unknown, at) => readName(key, `args.keys[${at}]`));
  throw new CorrectableError('INVALID_ARGUMENT', 'args.keys: give a list of keys', {
    field: 'args.keys',
  });
}
