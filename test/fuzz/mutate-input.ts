/** Values, rows, frames and bytes that are wrong somewhere, drawn from a seed. */
import type { Random } from '../../src/server/service/collections/random.ts';
import type { RawMessage } from '../support/hostile/wire-messages.ts';
import { EDGE_CASE_VALUES } from '../support/edge-case-values.ts';

/** Any value that the domain has, and some that it has not. */
export function anyValue(random: Random, depth = 0): unknown {
  const kind = random.between(0, depth > 5 ? 4 : 7);
  if (kind <= 2) return random.pick(EDGE_CASE_VALUES);
  if (kind === 3) return random.bits() - 2 ** 31;
  if (kind === 4)
    return String.fromCodePoint(
      ...Array.from({ length: random.between(0, 20) }, () => random.between(1, 0xd7ff)),
    );
  if (kind === 5)
    return Array.from({ length: random.between(0, 5) }, () => anyValue(random, depth + 1));
  if (kind === 6) return nested(random.between(50, 80));
  return Object.fromEntries(
    Array.from({ length: random.between(0, 5) }, (_, i) => [
      random.pick([`k${i}`, '$x', 'constructor', '']),
      anyValue(random, depth + 1),
    ]),
  );
}

function nested(depth: number): unknown {
  let value: unknown = 1;
  for (let i = 0; i < depth; i++) value = [value];
  return value;
}

/** A value with one place in it, at any depth, replaced, removed or added. */
export function damaged(random: Random, value: unknown): unknown {
  if (typeof value !== 'object' || value === null || random.chance(0.3))
    return random.pick(EDGE_CASE_VALUES);
  if (Array.isArray(value)) {
    const copy: unknown[] = [...(value as unknown[])];
    const at = random.between(0, copy.length);
    if (random.chance(0.25)) copy.splice(at, 1);
    else copy[at] = damaged(random, copy[at]);
    return copy;
  }
  const keys = Object.keys(value);
  const key =
    random.chance(0.25) || keys.length === 0
      ? random.pick(['extra', '$x', 'constructor', 'toString'])
      : keys[random.between(0, keys.length - 1)]!;
  return { ...value, [key]: damaged(random, (value as Record<string, unknown>)[key]) };
}

export function damagedRow(random: Random, row: RawMessage): RawMessage {
  const hurt = damaged(random, row);
  return Array.isArray(hurt) ? (hurt as RawMessage) : [hurt];
}

/** Bytes with some flipped, cut out, repeated or put in. */
export function spoilt(random: Random, bytes: Buffer): Buffer {
  const copy = Buffer.from(bytes);
  for (let n = random.between(0, 2); n >= 0 && copy.length > 0; n--) {
    copy[random.between(0, copy.length - 1)] = random.between(0, 255);
  }
  const at = random.between(0, copy.length);
  const to = random.between(at, copy.length);
  switch (random.between(0, 5)) {
    case 0:
      return copy.subarray(0, at);
    case 1:
      return Buffer.concat([copy.subarray(0, at), copy.subarray(to)]);
    case 2:
      return Buffer.concat([copy.subarray(0, to), copy.subarray(at)]);
    default:
      return copy;
  }
}
