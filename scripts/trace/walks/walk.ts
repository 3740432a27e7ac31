/** What a walk does, and how it is run. */
export interface Walk {
  /** Its name is counted where it is used as a key. */
  readonly operation: string;
  /** Executes the operation once, and waits for its end. */
  readonly run: () => Promise<unknown>;
  readonly close: () => Promise<void>;
}

export type StartWalk = () => Promise<Walk>;
