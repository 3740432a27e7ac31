/** What a log file has entries of. */
import type { LogKind } from '../../log/log-id.ts';

/** An entry and its log. */
export interface LoggedEntry {
  readonly log: LogKind;
  readonly entry: unknown;
}
