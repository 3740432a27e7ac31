/** Where `correctables serve` writes what it logs. */
import fs from 'node:fs';

/**
 * Takes lines for a file that is open. A line that cannot be written, as on a full disk, is dropped: nobody waits for it,
 * and nothing ends by it. The log may well lie on the disk whose lack of room it tells of.
 */
export function linesTo(descriptor: number): { write(line: string): void } {
  let isTorn = false;
  return {
    write(line) {
      const bytes = Buffer.from(isTorn ? `\n${line}` : line);
      let written = 0;
      try {
        while (written < bytes.length) written += fs.writeSync(descriptor, bytes, written);
        isTorn = false;
      } catch {
        // Whoever reads the log finds the next one on a line of its own.
        isTorn ||= written > 0;
      }
    },
  };
}
