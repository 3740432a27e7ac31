/** Which operations client and server have alike, where their versions of the contract differ. */
import type { Catalogue } from '../../protocol/contract/catalogue.ts';
import { operationHashes } from '../../protocol/contract/schema-hash.ts';
import type { ServedContract } from '../../protocol/rows/welcome.ts';

/** The contract that a client was written for. */
export interface OwnContract {
  readonly name: string;
  readonly hash: string;
  /** The fingerprint of each of its operations; asked for where the server has another version. */
  readonly operationHashes: () => Readonly<Record<string, string>>;
}

/** What a client written for `catalogue` says of it. */
export function ownContract({ name, hash, operations }: Catalogue): OwnContract {
  return { name, hash, operationHashes: () => operationHashes(operations) };
}

/** The names of the operations that both have alike; `undefined` for all. */
export function agreedOperations(
  own: OwnContract | undefined,
  served: ServedContract | undefined,
): ReadonlySet<string> | undefined {
  if (own === undefined || own.hash === served?.hash) return undefined;
  const theirs = new Map(Object.entries(served?.operations ?? {}));
  const alike = Object.entries(own.operationHashes()).filter(([name, hash]) => theirs.get(name) === hash);
  return new Set(alike.map(([name]) => name));
}
