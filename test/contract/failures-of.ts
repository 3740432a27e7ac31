/** Runs the contract suite on a binding that is expected to fail it. */
import { expect } from 'vitest';
import { bindingContract, type ContractSubject } from '../../src/testing/binding-contract.ts';

/** What fails for `subject`: the errors, by the names of the tests. */
export async function failuresOf(subject: ContractSubject): Promise<ReadonlyMap<string, Error>> {
  const bodies: [string, () => Promise<void>][] = [];
  bindingContract(subject, {
    describe: (_name, body) => body(),
    test: (name, body) => bodies.push([name, body]),
    expect,
  });
  const failures = new Map<string, Error>();
  for (const [name, body] of bodies) await body().catch((error: Error) => failures.set(name, error));
  return failures;
}
