/**
 * Lets a page change references between the early and the confirmed answer to which ones they are.
 * The confirmed read is sent once the change has been made. Otherwise the change would sometimes
 * lose the race, and nothing would be corrected.
 */
import type { Binding, Levels } from 'correctables';

export interface HeldReads<L extends Levels> {
  readonly binding: Binding<L>;
  /**
   * Holds the confirmed answers of the next read, and of reads with its name, until `change` is
   * fulfilled.
   */
  holdUntil(change: Promise<void> | undefined): void;
}

export function holdReads<L extends Levels>(inner: Binding<L>): HeldReads<L> {
  let change: Promise<void> | undefined;
  let held: string | undefined;
  const binding: Binding<L> = {
    name: inner.name,
    consistencyLevels: () => inner.consistencyLevels(),
    supports: (operation) => inner.supports(operation),
    close: () => inner.close(),
    submitOperation(operation, levels, sink, context) {
      if (operation.access === 'read') held ??= operation.name;
      if (change === undefined || operation.name !== held)
        return inner.submitOperation(operation, levels, sink, context);
      const early = levels.slice(0, -1);
      if (early.length > 0) void inner.submitOperation(operation, early, sink, context);
      // A promise that is returned would end the submission before its final view.
      void change.then(() => {
        if (!context.signal.aborted)
          void inner.submitOperation(operation, levels.slice(-1), sink, context);
      });
    },
  };
  const holdUntil = (next: Promise<void> | undefined): void => {
    change = next;
    held = undefined;
  };
  return { binding, holdUntil };
}
