import { CheckedOperation } from '../../src/protocol/hosting.ts';
import type { OperationRegistry } from '../../src/contract/operation-registry.ts';

/**
 * Checks an operation of the contract as a gateway does. `prepared` is the value that the hosted
 * binding returned from its preparation.
 */
export function checkOperationOf(
  name: string,
  args: unknown,
  contract: OperationRegistry,
  prepared?: object,
): CheckedOperation {
  const entry = contract.operations[name]!;
  return new CheckedOperation({ name, access: entry.access, args }, entry, contract, prepared);
}
