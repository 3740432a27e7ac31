/** The state that the page of the kill demo fetches repeatedly. */

/** The length of the spans in which acknowledged operations are counted. */
export const SPAN_MS = 100;
/** The number of shown spans: thirty seconds. */
export const SHOWN_SPANS = 300;

export interface Kill {
  /** When the server was killed, in milliseconds since the start. */
  readonly atMs: number;
  /** When the first operation was acknowledged again. */
  readonly backAtMs: number | undefined;
  /** Operations, acknowledged before the kill, that were looked for afterwards. */
  readonly lookedFor: number;
  /** How many of them were missing; undefined until they have been looked for. */
  readonly lost: number | undefined;
  /** Why the server has not recovered; undefined while it starts. */
  readonly failure: string | undefined;
}

export interface KillState {
  readonly nowMs: number;
  /** The process of the server; missing if it could not be started. */
  readonly pid?: number | undefined;
  /** Operations acknowledged in each of the latest spans; the last span has ended. */
  readonly spans: readonly number[];
  readonly kills: readonly Kill[];
  /** Operations acknowledged since the start. */
  readonly acknowledged: number;
}
