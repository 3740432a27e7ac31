/** The contract suite on the bindings of this package, with the patience of its tests. */
import { describe, expect, test } from 'vitest';
import { bindingContract, type ContractSubject } from '../../src/testing/binding-contract.ts';

/** A machine with busy cores is no failure. */
const PATIENCE_MS = 30_000;

/** Registers the contract suite for `subject`. */
export function keepsContract(subject: ContractSubject): void {
  bindingContract({ patienceMs: PATIENCE_MS, ...subject }, { describe, test, expect });
}
