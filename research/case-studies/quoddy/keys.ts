/** The keys of what users do: of a user the newest stands last. */
import { joined, orderedText, getPart } from '../composite-keys.ts';

export const doneKey = (user: string, ms: number, id: string): string =>
  joined(user, orderedText(ms), id);

/** When it was done. */
export const doneAt = (key: string): number => Number(getPart(key, 1));
