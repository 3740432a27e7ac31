/** The messages of the simple baseline server: frames of rows, in MessagePack. */

/** The path of its address. */
export const BASELINE_PATH = '/day';

/** The names of its operations. */
export type BaselineOperationName = 'set' | 'deposit' | 'withdraw' | 'balance';

/** A call of the client. A frame contains all calls of one turn. */
export type BaselineCall = readonly [
  id: number,
  name: BaselineOperationName,
  key: string,
  value?: string | number,
];

/** The reply to a call: its result, or an error. */
export type BaselineReply = readonly [id: number, result: unknown, error?: string];
