/**
 * Room on the disk of a site that is sealed: it needs a new log file to start
 * again, and must not find the disk full then.
 */
import type { Files } from '../../storage/disk/files.ts';

const RESERVED_FILE = 'reserved-room';
/** The first file of a start, and some more for small files. */
const RESERVED_BYTES = 2 * 1024 * 1024;

/** @throws Error of the system if there is no room */
export function reserveRoom(files: Files): void {
  releaseRoom(files);
  files.createNow(RESERVED_FILE, RESERVED_BYTES).close();
}

export function releaseRoom(files: Files): void {
  files.removeNow(RESERVED_FILE);
}
