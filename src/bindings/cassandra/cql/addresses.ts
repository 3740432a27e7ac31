/** IP addresses as bytes. */
import { isIPv4, isIPv6 } from 'node:net';

const GROUPS = 8;

/** The bytes of an address written as text; `undefined` for a text that is none. */
export function addressBytes(text: string): Buffer | undefined {
  if (isIPv4(text)) return Buffer.from(text.split('.').map(Number));
  // A zone is of one machine.
  if (!isIPv6(text) || text.includes('%')) return undefined;
  const [front = '', back] = text.split('::');
  const left = groupsOf(front);
  const right = back === undefined ? [] : groupsOf(back);
  const zeros = Array.from({ length: GROUPS - left.length - right.length }, () => 0);
  const bytes = Buffer.alloc(2 * GROUPS);
  for (const [at, group] of [...left, ...zeros, ...right].entries()) bytes.writeUInt16BE(group, 2 * at);
  return bytes;
}

/** The last four bytes may be written as those of IPv4. */
function groupsOf(text: string): number[] {
  if (text === '') return [];
  return text.split(':').flatMap((group) => {
    if (!group.includes('.')) return [Number.parseInt(group, 16)];
    const [a = 0, b = 0, c = 0, d = 0] = group.split('.').map(Number);
    return [256 * a + b, 256 * c + d];
  });
}
