/**
 * Reserves disk space for a sealed site. The site needs a new log file to start again, and must not
 * find the disk full then.
 */
import type { Files } from '../storage/disk/files.ts';

const RESERVED_FILE = 'reserved-room';
/** Enough for the first log file of a start and some small files. */
const RESERVED_BYTES = 2 * 1024 * 1024;

/** @throws Error of the system if there is not enough space */
export function reserveRoom(files: Files): void {
  releaseRoom(files);
  files.createNow(RESERVED_FILE, RESERVED_BYTES).close();
}

export function releaseRoom(files: Files): void {
  files.removeNow(RESERVED_FILE);
}
