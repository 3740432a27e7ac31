/** The messages of what a good engineer would write in a day: frames of rows, in MessagePack. */

/** At the end of its address. */
export const BASELINE_PATH = '/day';

/** What may be asked for. */
export type BaselineOperationName = 'set' | 'deposit' | 'withdraw' | 'balance';

/** A call, from the client; frames have all of one turn. */
export type BaselineCall = readonly [id: number, name: BaselineOperationName, key: string, value?: string | number];

/** Its answer, or what is wrong with it. */
export type BaselineReply = readonly [id: number, result: unknown, error?: string];
