/** What tells one version of a service from another: whatever is the same in this was labelled already. */
import { fingerprint } from '../../protocol/contract/fingerprint.ts';
import type { Service } from '../service/service.ts';

/**
 * A fingerprint of the contract, the tables, the colours, and the texts of all functions of the service. What these
 * functions go by it does not see, where it does not stand in them: so the text of their module counts too.
 */
export function serviceVersion(service: Service, moduleText = ''): string {
  const { contract, tables, shadowOperations, colours, alwaysRed, generators } = service;
  const { invariants, snapshotInvariants } = service;
  const parts = { tables, shadowOperations, colours, alwaysRed: [...alwaysRed], generators };
  const text = JSON.stringify({ ...parts, invariants, snapshotInvariants }, (_name, value: unknown) =>
    typeof value === 'function' ? Function.prototype.toString.call(value) : value,
  );
  return fingerprint(`${contract.hash} ${text} ${moduleText}`);
}
