/**
 * The rules that both codecs share: which values can be sent, and how errors describe those that
 * cannot.
 */
import { MAX_DEPTH } from '../../values/value-kinds.ts';
import { PortabilityError } from './codec.ts';

export const BIGINT_PATTERN: RegExp = /^-?\d{1,1024}$/;

export const portabilityMessages = {
  unsendable: (type: string): string => `a ${type} cannot be sent`,
  notFinite: (value: number): string => `${value} cannot be sent; use null or a string`,
  classInstance: (name: string): string =>
    `a ${name} cannot be sent; use plain objects, arrays, Uint8Array, bigint or Date`,
  tooDeep: `nested deeper than ${MAX_DEPTH}, or a cycle`,
  proto: 'the key __proto__ is refused',
  bigintDigits: 'a bigint may have up to 1024 decimal digits',
  invalidDate: 'an invalid Date cannot be sent',
  loneSurrogate:
    'a string with half of a surrogate pair cannot be sent; use Uint8Array for arbitrary data',
  reserved: 'keys that begin with one $ are reserved for $bytes, $bigint, $date and $undefined',
} as const;

/** Returns the name of an object's class, for messages. */
export function getClassName(value: object): string {
  const { name } = (value.constructor as { readonly name?: unknown } | undefined) ?? {};
  return typeof name === 'string' && name !== '' ? name : 'class instance';
}

const LONE_SURROGATE = /\p{Surrogate}/u;
const LONE_SURROGATES = /\p{Surrogate}/gu;
/** The function of the engine returns at once for text in Latin letters. */
const platformIsWellFormed = (String.prototype as { isWellFormed?: (this: string) => boolean })
  .isWellFormed;

export function isWellFormed(text: string): boolean {
  return platformIsWellFormed === undefined
    ? !LONE_SURROGATE.test(text)
    : platformIsWellFormed.call(text);
}

/** Returns the text with a replacement character for every surrogate without its other half. */
export function toWellFormed(text: string): string {
  return text.replace(LONE_SURROGATES, '\ufffd');
}

/** Returns the value of an object with the single key `tag`. Codecs decode `$bytes` themselves. */
export function decodeTagged(tag: string, content: unknown): unknown {
  if (tag === '$undefined' && content === true) return undefined;
  if (tag === '$bigint' && typeof content === 'string') {
    if (BIGINT_PATTERN.test(content)) return BigInt(content);
    throw new PortabilityError(portabilityMessages.bigintDigits);
  }
  if (tag === '$date' && typeof content === 'number') {
    const date = new Date(content);
    if (Number.isFinite(date.getTime())) return date;
    throw new PortabilityError(portabilityMessages.invalidDate);
  }
  throw new PortabilityError(portabilityMessages.reserved);
}
