/**
 * Changes of a directory on a volume of the network. If the reply to a change is lost, the volume
 * may repeat the change. Then the repetition fails, although the change was made: a link exists
 * already, or a file is no longer at its old place.
 */
import fs from 'node:fs';

/**
 * Links `draft`, a file that only this process knows, to `path`. Throws if another file has that
 * path. `open(2)` describes how to find out.
 */
export function linkDraft(draft: string, path: string): void {
  try {
    fs.linkSync(draft, path);
  } catch (error) {
    if (!hasTwoLinks(draft)) throw error;
  }
}

function hasTwoLinks(path: string): boolean {
  return fs.statSync(path, { throwIfNoEntry: false })?.nlink === 2;
}

/** Moves a file or a directory that exists. */
export function move(from: string, to: string): void {
  try {
    fs.renameSync(from, to);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    const isMoved = !fs.existsSync(from) && fs.existsSync(to);
    if (code !== 'ENOENT' || !isMoved) throw error;
  }
}
