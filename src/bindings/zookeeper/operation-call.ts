/** The context in which one operation is executed. */
import type {
  BindingSession,
  InvocationContext,
  Sink,
} from '../../correctable/binding.ts';

export const LEVELS = ['weak', 'strong'] as const;
export type ZooKeeperLevels = typeof LEVELS;
export type Level = ZooKeeperLevels[number];

/**
 * The guarantees of an application's session. Its state is the last transaction
 * that its updates and reads have seen.
 */
export class SessionGuarantees implements BindingSession {
  #zxid = 0n;

  close(): void {
    this.#zxid = 0n;
  }

  /**
   * Returns whether a view is recent enough. Its server has applied all
   * transactions up to `zxid`.
   */
  canShow(zxid: bigint): boolean {
    return zxid >= this.#zxid;
  }

  advanceTo(zxid: bigint): void {
    if (zxid > this.#zxid) this.#zxid = zxid;
  }
}

export interface OperationCall {
  readonly levels: readonly Level[];
  readonly sink: Sink<unknown, Level>;
  readonly session: SessionGuarantees | undefined;
  readonly context: InvocationContext;
}

export function isRequested({ levels }: OperationCall, level: Level): boolean {
  return levels.includes(level);
}
