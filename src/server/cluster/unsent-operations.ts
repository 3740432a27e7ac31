/** What a site that was retired had alone: kept for people, who may want to do it again. */
import type { Files } from '../storage/disk/files.ts';

/** In the data directory. */
const UNSENT_FILE = 'unsent-operations.json';

/** Writes them down. Returns what to report of them; nothing if there are none. */
export function saveUnsent(files: Files, unsent: readonly unknown[]): string {
  if (unsent.length === 0) return '';
  files.replace(UNSENT_FILE, Buffer.from(JSON.stringify(unsent, null, 2)));
  return ` Operations that no other site has: ${unsent.length}, see ${UNSENT_FILE}.`;
}
