/**
 * The history of a run of the bank: one line for each event, from which its verdicts are computed.
 */
import * as z from 'zod';
import { SITES as WAN_SITES } from '../../../engines/wan.ts';
import { ACCOUNTS } from '../accounts.ts';

const account = z.enum(ACCOUNTS);
const site = z.enum(WAN_SITES);
const euros = z.int();
const id = z.string();
const transfer = z.object({ from: account, to: account, euros });
const balances = z.record(account, euros);
/** Milliseconds since the start of the run. */
const atMs = z.number();

const line = z.discriminatedUnion('kind', [
  /** The balances before the first transfer. */
  z.object({ kind: z.literal('opened'), balances, atMs }),
  z.object({ kind: z.literal('begun'), id, teller: site, transfer, atMs }),
  /** An early view of a transfer. */
  z.object({ kind: z.literal('early'), id, balances: z.partialRecord(account, euros), atMs }),
  z.object({ kind: z.literal('confirmed'), id, balances: z.partialRecord(account, euros), atMs }),
  z.object({
    kind: z.literal('refused'),
    id,
    reason: z.enum(['not enough', 'conflict', 'unavailable']),
    atMs,
  }),
  /** A transfer has no answer. */
  z.object({ kind: z.literal('unknown'), id, atMs }),
  /**
   * A strong read of all balances. `made` has the transfers whose rows it has found, of those that
   * no earlier read has found.
   */
  z.object({ kind: z.literal('read'), balances, made: z.array(id), beganMs: z.number(), atMs }),
  z.object({ kind: z.literal('killed'), site, atMs }),
  z.object({ kind: z.literal('started'), site, atMs }),
  /** A site that was started again has all operations that were ordered meanwhile. */
  z.object({ kind: z.literal('caughtUp'), site, atMs }),
  /** A client has lost its site, and is at another one. */
  z.object({ kind: z.literal('moved'), client: z.string(), from: site, to: site, atMs }),
  /** The row of a transfer at the end; `null` if it was not made. */
  z.object({ kind: z.literal('found'), id, row: transfer.nullable(), atMs }),
  /** The balances at the end. */
  z.object({ kind: z.literal('closed'), balances, atMs }),
]);

export type HistoryLine = z.infer<typeof line>;
export type LineKind = HistoryLine['kind'];
export type LineOf<K extends LineKind> = Extract<HistoryLine, { readonly kind: K }>;

/** Returns the lines of one kind. */
export function selectLines<K extends LineKind>(
  history: readonly HistoryLine[],
  kind: K,
): LineOf<K>[] {
  return history.filter((item): item is LineOf<K> => item.kind === kind);
}

/**
 * Reads the lines of a history file.
 *
 * @throws Error that names the first line that is not one of a bank's history
 */
export function parseHistory(text: string): HistoryLine[] {
  const lines = text.split('\n').map((item, at) => [item, at + 1] as const);
  return lines.filter(([item]) => item !== '').map(([item, number]) => parseLine(item, number));
}

function parseLine(text: string, number: number): HistoryLine {
  try {
    return line.parse(JSON.parse(text));
  } catch (error) {
    const cause = error instanceof z.ZodError ? z.prettifyError(error) : String(error);
    throw new Error(
      `line ${number} is not one of a bank's history: ${cause}\nWrite a history with demo:bank --headless --history FILE.`,
      { cause: error },
    );
  }
}
