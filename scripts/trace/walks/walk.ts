/** What a walk does, and how it is run. */
export interface Walk {
  /** Its name is counted where it is used as a key. */
  readonly operation: string;
  /** Executes the operation once, and waits for its end. */
  readonly run: () => Promise<unknown>;
  /**
   * If something goes on after the operation has ended: it is over when no function of src has run
   * for this long, in milliseconds. Default: nothing goes on
   */
  readonly quietMs?: number;
  readonly close: () => Promise<void>;
}

export type StartWalk = () => Promise<Walk>;
