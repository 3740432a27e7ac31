/**
 * Keeps room on the disk for checkpoints: on a disk that others fill, the logs would take what is
 * left, and no checkpoint could make them shorter any more.
 */
import fs from 'node:fs';
import type { Files } from './files.ts';

/** About what a checkpoint of a site may need, with what LevelDB needs beside it. */
const RESERVE_BYTES = 128 * 2 ** 20;
/** On a small disk, it would be too much. */
const MAX_RESERVE_SHARE = 1 / 4;

/**
 * Returns files of which none is created in the background if that left too little room. Log files
 * are created like this, except the first one of a start.
 *
 * @param root the path of the files
 */
export function keepLogRoom(files: Files, root: string): Files {
  return {
    list: (folder) => files.list(folder),
    read: (path) => files.read(path),
    readPart: (path, position, length) => files.readPart(path, position, length),
    makeDirectory: (path) => files.makeDirectory(path),
    createNow: (path, sizeBytes) => files.createNow(path, sizeBytes),
    create: (path, sizeBytes, done) => {
      if (hasRoom(root, sizeBytes)) return files.create(path, sizeBytes, done);
      const error = new Error('ENOSPC: the rest of the disk is for checkpoints');
      setImmediate(() => done(Object.assign(error, { code: 'ENOSPC' })));
    },
    replace: (path, bytes) => files.replace(path, bytes),
    moveDirectory: (from, to) => files.moveDirectory(from, to),
    remove: (path) => files.remove(path),
    removeNow: (path) => files.removeNow(path),
  };
}

function hasRoom(root: string, sizeBytes: number): boolean {
  const { bavail, bsize, blocks } = fs.statfsSync(root);
  const reservedBytes = Math.min(RESERVE_BYTES, MAX_RESERVE_SHARE * blocks * bsize);
  return bavail * bsize - sizeBytes >= reservedBytes;
}
