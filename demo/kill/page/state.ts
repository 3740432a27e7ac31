/** What the page of the kill demo asks for, again and again. */

export interface Kill {
  /** Milliseconds since the start. */
  readonly atMs: number;
  /** When the first operation was acknowledged again. */
  readonly backAtMs: number | undefined;
  /** Operations, acknowledged before the kill, that were looked for afterwards. */
  readonly lookedFor: number;
  /** How many of them were missing; undefined while nobody has looked. */
  readonly lost: number | undefined;
}

export interface KillState {
  readonly nowMs: number;
  readonly spanMs: number;
  /** Operations acknowledged in each span since the start. */
  readonly spans: readonly number[];
  readonly kills: readonly Kill[];
  readonly acknowledged: number;
}
