import { CheckedOperation } from '../../src/protocol/hosting.ts';
import type { OperationRegistry } from '../../src/protocol/contract/operation-registry.ts';

/** Checks an operation of the contract as a gateway does. `prepared` is what the hosted binding has prepared. */
export function checkOperationOf(
  name: string,
  args: unknown,
  contract: OperationRegistry,
  prepared?: object,
): CheckedOperation {
  const entry = contract.operations[name]!;
  return new CheckedOperation({ name, access: entry.access, args }, entry, contract, prepared);
}
