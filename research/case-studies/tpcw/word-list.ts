/** Words that could be English, for titles, names and searches. */
import { wholeBetween, type Random } from '../../../demo/shared/random.ts';

const CONSONANTS = 'bcdfghklmnprstvw';
const VOWELS = 'aeiou';

/** One of the choices. */
export function picked<T>(choices: readonly [T, ...T[]], random: Random): T {
  return choices[wholeBetween(random, 0, choices.length - 1)] as T;
}

/** Two to four syllables of a consonant and a vowel, in small letters. */
export function word(random: Random): string {
  const letter = (of: string): string => of.charAt(wholeBetween(random, 0, of.length - 1));
  const syllables = Array.from(
    { length: wholeBetween(random, 2, 4) },
    () => letter(CONSONANTS) + letter(VOWELS),
  );
  return syllables.join('');
}

/** So many words. */
export function phrase(random: Random, words: number): string {
  return Array.from({ length: words }, () => word(random)).join(' ');
}
