/**
 * A file that is written twice: what one disk block loses, or an operator removes, is still in the other. Both have the
 * same bytes.
 */
import type { Files, SyncedFile } from './files.ts';

type OnMade = (error: Error | undefined, file?: SyncedFile) => void;

/** Makes both files, empty. When it fails neither is left. */
export function createMirrored(files: Files, [first, second]: readonly [string, string], done: OnMade): void {
  files.create(first, 0, (error, one) => {
    if (one === undefined) return done(error);
    files.create(second, 0, (secondError, other) => {
      if (other !== undefined) return done(undefined, mirrored(one, other));
      one.close();
      files.remove(first);
      done(secondError);
    });
  });
}

/** A write is done once both have it. */
function mirrored(one: SyncedFile, other: SyncedFile): SyncedFile {
  return {
    write(bytes, position, done) {
      let left = 2;
      let failure: Error | undefined;
      const ended = (error: Error | undefined): void => {
        failure ??= error;
        left -= 1;
        if (left === 0) done(failure);
      };
      one.write(bytes, position, ended);
      other.write(bytes, position, ended);
    },
    close() {
      one.close();
      other.close();
    },
  };
}
