/** The messages of what a good engineer would write in a day: frames of rows, in MessagePack. */

/** At the end of its address. */
export const DAY_PATH = '/day';

/** What may be asked for. */
export type DayName = 'set' | 'deposit' | 'withdraw' | 'balance';

/** A call, from the client; frames have all of one turn. */
export type DayCall = readonly [id: number, name: DayName, key: string, value?: string | number];

/** Its answer, or what is wrong with it. */
export type DayAnswer = readonly [id: number, result: unknown, error?: string];
