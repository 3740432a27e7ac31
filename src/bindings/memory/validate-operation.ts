/**
 * Validates operations of the memory binding. Behind a gateway without a contract, clients may send
 * any name and arguments, so only a checked copy is executed.
 */
import { CorrectableError } from '../../correctable/errors.ts';
import type { Access, Operation } from '../../correctable/operation.ts';
import { hasTimeToLive, refuseTimeToLive } from '../../values/time-to-live.ts';
import { checkName } from '../../operations/check-name.ts';
import { checkCommitArgs, checkReadVersionsArgs } from '../../operations/check-transaction-args.ts';

interface OperationKind {
  readonly access: Access;
  /** Reads the arguments, without fields that do not belong to them. */
  readonly readArgs: (value: InputArgs) => object;
}

/** Arguments of unknown types. */
interface InputArgs {
  readonly key?: unknown;
  readonly keys?: unknown;
  readonly value?: unknown;
  readonly queue?: unknown;
  readonly item?: unknown;
  readonly known?: unknown;
  readonly reads?: unknown;
  readonly writes?: unknown;
}

const readQueue = ({ queue }: InputArgs): object => ({
  queue: readName(queue, 'args.queue'),
});

const OPERATION_KINDS: ReadonlyMap<string, OperationKind> = new Map<string, OperationKind>([
  [
    'get',
    {
      access: 'read',
      readArgs: ({ key }) => ({ key: readName(key, 'args.key') }),
    },
  ],
  ['getMany', { access: 'read', readArgs: ({ keys }) => ({ keys: readNames(keys) }) }],
  [
    'put',
    {
      access: 'write',
      readArgs: ({ key, value }) => ({ key: readName(key, 'args.key'), value }),
    },
  ],
  [
    'enqueue',
    {
      access: 'write',
      readArgs: ({ queue, item }) => ({
        queue: readName(queue, 'args.queue'),
        item,
      }),
    },
  ],
  ['dequeue', { access: 'write', readArgs: readQueue }],
  ['peek', { access: 'read', readArgs: readQueue }],
  ['readVersions', { access: 'read', readArgs: checkReadVersionsArgs }],
  ['commit', { access: 'write', readArgs: checkCommitArgs }],
]);

export function isSupported(operation: Operation): boolean {
  return (
    OPERATION_KINDS.get(operation.name)?.access === operation.access && !hasTimeToLive(operation)
  );
}

/**
 * Returns the operation that is executed. Throws `UNSUPPORTED`, or `INVALID_ARGUMENT` with the
 * field.
 */
export function validateOperation(operation: Operation): Operation {
  const { name, access, args } = operation;
  const kind = OPERATION_KINDS.get(name);
  if (kind?.access !== access) {
    throw new CorrectableError('UNSUPPORTED', `The memory binding has no ${access} "${name}"`);
  }
  refuseTimeToLive(operation, 'the memory binding');
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
