/** Keys and indexes of several parts, which stand in the order in which they are looked through. */

/**
 * Stands between the parts: before any letter, so that what begins with shorter parts comes first.
 */
const GAP = '\u0001';

/**
 * A text of several parts; `prefixOf` finds all that begin with some of them, and `getPart` gives
 * one of them.
 */
export const joined = (...parts: readonly string[]): string => parts.join(GAP);
export const prefixOf = (...parts: readonly string[]): string => joined(...parts, '');
export const getPart = (text: string, part: number): string => text.split(GAP)[part] ?? '';

const DIGITS = 15;

/** Times and amounts as texts, in their order: whole numbers from 0 to `TEXT_MAX`. */
export const orderedText = (value: number): string => String(value).padStart(DIGITS, '0');
export const TEXT_MAX = 10 ** DIGITS - 1;
