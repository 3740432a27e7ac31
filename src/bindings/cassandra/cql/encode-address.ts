/** IP addresses as bytes. */
import { isIPv4, isIPv6 } from 'node:net';

const GROUPS = 8;

/** The bytes of an address written as text; `undefined` for a text that is none. */
export function encodeAddress(text: string): Buffer | undefined {
  if (isIPv4(text)) return Buffer.from(text.split('.').map(Number));
  // A zone is of one machine.
  if (!isIPv6(text) || text.includes('%')) return undefined;
  // A URL has all groups in hexadecimal digits, also those that were written as an address of IPv4.
  const [front = '', back] = new URL(`http://[${text}]`).hostname.slice(1, -1).split('::');
  const [left, right] = [parseGroups(front), parseGroups(back ?? '')];
  const zeros = Array.from({ length: GROUPS - left.length - right.length }, () => '0');
  const digits = [...left, ...zeros, ...right].map((group) => group.padStart(4, '0'));
  return Buffer.from(digits.join(''), 'hex');
}

function parseGroups(text: string): string[] {
  return text === '' ? [] : text.split(':');
}
