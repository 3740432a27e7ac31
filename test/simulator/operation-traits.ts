/** What the operations of the classic service are: by what they are for, and what they answered. */
import type { ClientOperation } from '../../src/testing/simulator/history.ts';

const READS: ReadonlySet<string> = new Set(['size', 'balance', 'balances', 'posts']);
const BLUE: ReadonlySet<string> = new Set([
  'deposit',
  'write',
  'tag',
  'untag',
  'note',
  'draft',
  'discard',
]);

/** Whether the operation only reads. */
export function isRead({ operation }: Pick<ClientOperation, 'operation'>): boolean {
  return READS.has(operation);
}

/**
 * Whether its shadow operation is blue: durable at the site that answered, and then at the others.
 */
export function isBlue({ operation, replies }: ClientOperation): boolean {
  if (operation === 'adjust')
    return (replies[0]?.value as { readonly added: number } | undefined)?.added !== -10;
  return BLUE.has(operation);
}

/** Whether the reply of an update shows that it changed something. */
export function tookEffect({
  operation,
  replies,
}: Pick<ClientOperation, 'operation' | 'replies'>): boolean {
  const value = replies[0]?.value;
  if (replies.length === 0) return false;
  if (operation === 'withdraw' || operation === 'transfer')
    return (value as { readonly paid: boolean }).paid;
  if (operation === 'reserve') return (value as { readonly reserved: boolean }).reserved;
  return !READS.has(operation);
}
